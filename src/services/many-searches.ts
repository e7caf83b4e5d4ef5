/** Searches of one call, several at a time. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { Call } from "../calls/call.ts";
import { KibitzError } from "../errors/errors.ts";
import type { BeginWork } from "../thread/event-loop.ts";
import type { AdmissionControl, Preflight } from "./admission.ts";

/** The parts that calls with many searches need. */
export interface SearchingOptions {
  readonly analyzer: Analyzer;
  readonly preflight: Preflight;
  readonly gate: AdmissionControl;
  readonly access: Access;
  /** Time slices: a game of 600 moves takes milliseconds to check, and may need no engine. */
  readonly beginWork: BeginWork;
  /** How many searches of one call may be under way: one more than the slots keeps them all busy. */
  readonly searchesAtOnce: number;
}

/** The queue's flow of a call with many searches: beside its caller's single requests it is one more caller, not two hundred. */
export function flowOf({ account, request }: Call): string {
  return `${account.subject}#${request.id}`;
}

/** How many searches of one call may be under way: as many as their caller may have. */
export function atOnceOf({ plan }: Account, searchesAtOnce: number): number {
  return Math.min(searchesAtOnce, plan.limits.concurrent ?? searchesAtOnce);
}

/**
 * Starts tasks in their order and yields each result when it is ready. A slow reader slows the starting down: running
 * tasks and results that wait for the reader are at most `atOnce` together.
 *
 * @param start starts the task with an index. Its signal is aborted when the reader leaves or a task fails.
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
 * The shortest and longest pause before a retry, in milliseconds. The `retryAfterMs` of a refusal may be 0, or far too
 * long, because slots may be free earlier; and a server that stops waits for this pause.
 */
const pauseMinMs = 100;
const pauseMaxMs = 1000;

interface RetryOptions {
  /** When the work that the task belongs to last progressed, by `performance.now()`. */
  readonly progressedAt: () => number;
  /** How long to retry without progress, in milliseconds. */
  readonly patienceMs?: number;
}

/**
 * Retries a task that is refused as `overloaded` until the work has made no progress for a minute. For callers that wait anyway.
 *
 * @throws the last error of the task; an AbortError if the caller disconnects
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
