import { setTimeout as sleep } from "node:timers/promises";
import { KibitzError } from "../errors/errors.ts";

/** Least wait before a new try, in milliseconds, whatever the refusal says: it may say 0. */
const pauseMinMs = 100;

export interface RetryOptions {
  /** When to begin counting the patience, by `performance.now()`: it may move on between tries. */
  readonly since: () => number;
  /** How long a task is tried again, in milliseconds. The last try is at its end. */
  readonly patienceMs?: number;
}

/**
 * Runs a task, and again while it is refused as `overloaded`, each time after as long as the refusal says:
 * for work whose caller waits anyway. Throws what the last try threw; an AbortError when the caller has left.
 */
export async function retryOverloaded<T>(
  task: () => Promise<T>,
  signal: AbortSignal,
  { since, patienceMs = 60_000 }: RetryOptions,
): Promise<T> {
  /** The count that the last try was set to end. A timer may fire before its time, so the clock alone cannot tell. */
  let ended: number | undefined;
  for (;;) {
    try {
      return await task();
    } catch (thrown) {
      const begun = since();
      const leftMs = begun + patienceMs - performance.now();
      const again = thrown instanceof KibitzError && thrown.code === "overloaded";
      if (!again || leftMs <= 0 || begun === ended) {
        throw thrown;
      }
      const pauseMs = Math.max(thrown.retryAfterMs ?? 1000, pauseMinMs);
      if (pauseMs >= leftMs) {
        ended = begun;
      }
      await sleep(Math.min(pauseMs, leftMs), undefined, { signal });
    }
  }
}
