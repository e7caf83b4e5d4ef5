import { setTimeout as sleep } from "node:timers/promises";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { Call } from "../calls/call.ts";
import { KibitzError } from "../errors/errors.ts";
import type { BeginWork } from "../thread/event-loop.ts";
import type { AdmissionControl, Preflight } from "./admission.ts";

export interface SearchingOptions {
  readonly analyzer: Analyzer;
  readonly preflight: Preflight;
  readonly gate: AdmissionControl;
  readonly access: Access;
  /** Starts tasks in time slices: checking a game of 600 moves takes milliseconds. */
  readonly beginWork: BeginWork;
  /** The maximum number of searches in flight of one call. One more than the engine slots keeps all slots busy. */
  readonly searchesAtOnce: number;
}

/** Queue flow of a call with many searches: it competes with its caller's single requests as one caller, not as two hundred. */
export function flowOf({ account, request }: Call): string {
  return `${account.subject}#${request.id}`;
}

export function atOnceOf({ plan }: Account, searchesAtOnce: number): number {
  return Math.min(searchesAtOnce, plan.limits.concurrent ?? searchesAtOnce);
}

/**
 * Starts tasks in order, and yields each result when it is ready. At most `atOnce` tasks are running or have an unread result.
 * @param start starts a task; its signal is aborted if the reader leaves or a task fails
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

/** The shortest and longest pause before a retry, in milliseconds. The `retryAfterMs` of a rejection may be 0 or far too long. */
const pauseMinMs = 100;
const pauseMaxMs = 1000;

interface RetryOptions {
  /** Returns the time of the last progress of the whole work, as `performance.now()`. */
  readonly progressedAt: () => number;
  /** The time without progress after which retries stop, in milliseconds. */
  readonly patienceMs?: number;
}

/**
 * Retries an `overloaded` task until the work makes no progress for a minute: these clients wait a long time anyway.
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
