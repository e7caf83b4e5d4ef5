export interface Random {
  /** Returns a number from 0 (included) to 1 (excluded). */
  real(): number;
  /** Returns a whole number from 0 (included) to the limit (excluded). */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Creates a mulberry32 generator. The same seed gives the same numbers, so a failing test can be repeated. */
export function createRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    real: next,
    below,
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)];
      if (item === undefined) {
        throw new RangeError("nothing to pick from");
      }
      return item;
    },
  };
}
