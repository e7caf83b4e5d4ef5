/** Waiting times after tries that fail: random, growing, and forgotten by a success. */
export interface Backoff {
  /** Tries that have failed since the last success. */
  readonly failures: number;
  /** Milliseconds until the next try may be begun; 0 while nothing has failed. */
  readonly waitMs: number;
  /**
   * A try that was begun then, by the same clock, has failed. Several that were under way together count once.
   *
   * @param mostMs where the next try need not wait longer.
   */
  failed(begunAt: number, mostMs?: number): void;
  succeeded(): void;
}

/**
 * Each time is random between the least one and four times the last: engines that died together do not
 * come back together. It counts from the failure, so that who comes later waits less.
 */
export function createBackoff(
  minMs = 100,
  maxMs = 30_000,
  random: () => number = Math.random,
  now: () => number = () => performance.now(),
): Backoff {
  let failures = 0;
  let pauseMs = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  return {
    get failures() {
      return failures;
    },
    get waitMs() {
      return Math.max(0, failedAt + pauseMs - now());
    },
    failed(begunAt, mostMs = maxMs) {
      if (begunAt >= failedAt) {
        failures++;
        pauseMs = Math.min(mostMs, maxMs, minMs + random() * (Math.max(minMs, pauseMs * 4) - minMs));
        failedAt = now();
      }
    },
    succeeded() {
      failures = 0;
      pauseMs = 0;
    },
  };
}
