import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import { flowOf } from "../analysis/fair-queue.ts";
import type { Call } from "../calls/call.ts";
import { KibitzError } from "../errors/errors.ts";
import type { BeginWork } from "../thread/time-slices.ts";
import { now, sleep } from "../time/time.ts";
import type { Charge } from "./charge.ts";
import type { Validate } from "./validate.ts";

export interface SearchingOptions {
  readonly analyzer: Analyzer;
  readonly validate: Validate;
  readonly charge: Charge;
  readonly access: Access;
  readonly beginWork: BeginWork;
  /** The maximum number of concurrent searches of one call. This is the number of slots plus 1, so that no slot is idle. */
  readonly searchesAtOnce: number;
}

export function flowOfLongCall({ account, request }: Call): string {
  return flowOf(account.subject, request.id);
}

export function atOnceOf({ plan }: Account, searchesAtOnce: number): number {
  return Math.min(searchesAtOnce, plan.limits.concurrent ?? searchesAtOnce);
}

/**
 * Yields each result as soon as it is ready. At most `atOnce` tasks are running or have an unread result.
 * `start` starts a task. The signal of the task aborts if the reader stops or another task fails.
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

/** The shortest and longest pause before a retry, in milliseconds. The `retryAfterMs` of an error may be 0 or very long. */
const pauseMinMs = 100;
const pauseMaxMs = 1000;

interface RetryOptions {
  /** Returns the time when any task of the same call last made progress, by `now()`. */
  readonly progressedAt: () => number;
  /** If the call has made no progress for this number of milliseconds, the task is not retried. */
  readonly patienceMs?: number;
}

/**
 * Retries a task that failed with `overloaded`. If the call has made no progress for a minute, throws the last error of the
 * task.
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
      if (!isOverloaded || now() - progressedAt() >= patienceMs) {
        throw thrown;
      }
      const pauseMs = Math.min(Math.max(thrown.retryAfterMs ?? pauseMaxMs, pauseMinMs), pauseMaxMs);
      await sleep(pauseMs, { signal });
    }
  }
}
