/** Waiting times between tries that fail: random, growing, and forgotten by a success. */
export interface Backoff {
  /** Milliseconds to wait before the next try; 0 before the first. */
  next(): number;
  reset(): void;
}

/**
 * Each time is random between the least one and four times the last: engines that died together do not
 * come back together.
 */
export function createBackoff(minMs = 100, maxMs = 30_000, random: () => number = Math.random): Backoff {
  let last: number | undefined;
  return {
    next() {
      const now = last === undefined ? 0 : minMs + random() * (Math.max(minMs, last * 4) - minMs);
      last = Math.min(maxMs, Math.max(minMs, now));
      return now === 0 ? 0 : last;
    },
    reset() {
      last = undefined;
    },
  };
}
