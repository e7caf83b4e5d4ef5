/** Waiting times after tries that fail: random, growing, and forgotten by a success. */
export interface Backoff {
  /** Milliseconds to wait before the next try; 0 while nothing has failed. */
  readonly waitMs: number;
  /** A try that had waited so long has failed. Several that were under way together count once. */
  failed(waitedMs: number): void;
  succeeded(): void;
}

/**
 * Each time is random between the least one and four times the last: engines that died together do not
 * come back together.
 */
export function createBackoff(minMs = 100, maxMs = 30_000, random: () => number = Math.random): Backoff {
  let waitMs = 0;
  return {
    get waitMs() {
      return waitMs;
    },
    failed(waitedMs) {
      if (waitedMs === waitMs) {
        waitMs = Math.min(maxMs, minMs + random() * (Math.max(minMs, waitMs * 4) - minMs));
      }
    },
    succeeded() {
      waitMs = 0;
    },
  };
}
