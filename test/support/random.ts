export interface Random {
  /** From 0 to below 1. */
  real(): number;
  /** A whole number, from 0 to below the limit. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
}

/** mulberry32: the same numbers for the same seed, so that a failing game can be played again. */
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
