/** Runs the many searches of one call, several at a time. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { Call } from "../calls/call.ts";
import { KibitzError } from "../errors/errors.ts";
import type { BeginWork } from "../thread/event-loop.ts";
import type { AdmissionControl, Preflight } from "./admission.ts";

/** The dependencies of calls with many searches. */
export interface SearchingOptions {
  readonly analyzer: Analyzer;
  readonly preflight: Preflight;
  readonly gate: AdmissionControl;
  readonly access: Access;
  /** Starts tasks in time slices. Checking a game of 600 moves takes milliseconds, and may need no engine. */
  readonly beginWork: BeginWork;
  /** The maximum number of searches in flight of one call. One more than the engine slots keeps all slots busy. */
  readonly searchesAtOnce: number;
}

/**
 * Returns the queue flow of a call with many searches. Beside the single requests of its caller, the fair queue counts the whole
 * call as one more caller, not as two hundred.
 */
export function flowOf({ account, request }: Call): string {
  return `${account.subject}#${request.id}`;
}

/** Returns the maximum number of searches in flight of one call. It never exceeds the limit of the caller's plan. */
export function atOnceOf({ plan }: Account, searchesAtOnce: number): number {
  return Math.min(searchesAtOnce, plan.limits.concurrent ?? searchesAtOnce);
}

/**
 * Starts tasks in their order, and yields each result when it is ready. At most `atOnce` tasks are running or have a result that
 * waits for the reader, so a slow reader also slows down the start of tasks.
 *
 * @param start starts the task with the given index. Its signal is aborted if the reader leaves or a task fails.
 */
export async function* runConcurrently<T>(
  count: number,
  atOnce: number,
  start: (index: number, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const left = new AbortController();
  const either = AbortSignal.any([signal, left.signal]);
  const running = new Map<number, Promise<{ readonly index: number; readonly result: T }>>();
  let next = 0;
  try {
    while (next < count || running.size > 0) {
      for (; next < count && running.size < atOnce; next++) {
        const index = next;
        running.set(
          index,
          start(index, either).then((result) => ({ index, result })),
        );
      }
      const { index, result } = await Promise.race(running.values());
      running.delete(index);
      yield result;
    }
  } finally {
    left.abort(new Error("the reader left"));
    await Promise.allSettled(running.values());
  }
}

/**
 * The shortest and the longest pause before a retry, in milliseconds. They bound the `retryAfterMs` of a rejection, which may be
 * 0, or far too long because slots may become free earlier. A server that stops waits for this pause.
 */
const pauseMinMs = 100;
const pauseMaxMs = 1000;

interface RetryOptions {
  /** Returns the time at which the work that includes the task last made progress, as `performance.now()`. */
  readonly progressedAt: () => number;
  /** The time without progress after which retries stop, in milliseconds. */
  readonly patienceMs?: number;
}

/**
 * Retries a task that is rejected as `overloaded`, until the work has made no progress for a minute. It is for calls whose
 * clients wait a long time anyway.
 *
 * @throws the last error of the task; an AbortError if the client disconnects
 */
export async function retryOverloaded<T>(
  task: () => Promise<T>,
  signal: AbortSignal,
  { progressedAt, patienceMs = 60_000 }: RetryOptions,
): Promise<T> {
  for (;;) {
    try {
      return await task();
    } catch (thrown) {
      const isOverloaded = thrown instanceof KibitzError && thrown.code === "overloaded";
      if (!isOverloaded || performance.now() - progressedAt() >= patienceMs) {
        throw thrown;
      }
      const pauseMs = Math.min(Math.max(thrown.retryAfterMs ?? pauseMaxMs, pauseMinMs), pauseMaxMs);
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
