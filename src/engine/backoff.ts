/** Pauses between attempts that fail: random, growing, and reset by a success. */
export interface Backoff {
  /** Attempts that have failed since the last success. Attempts that ran at the same time count once. */
  readonly failures: number;
  /** Milliseconds until the next attempt may begin; 0 if nothing has failed. */
  readonly waitMs: number;
  /** Counts a failed attempt. `begunAt` is the time at which the attempt began, by the clock `now`. */
  failed(begunAt: number): void;
  succeeded(): void;
}

/**
 * Each pause is a random time between `minMs` and four times the last pause, so that engines that died together do
 * not restart together. The pause begins when the attempt fails, so a later caller waits less.
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
    failed(begunAt) {
      if (begunAt >= failedAt) {
        failures++;
        pauseMs = Math.min(maxMs, minMs + random() * (Math.max(minMs, pauseMs * 4) - minMs));
        failedAt = now();
      }
    },
    succeeded() {
      failures = 0;
      pauseMs = 0;
    },
  };
}
