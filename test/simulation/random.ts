/** A stream of numbers that is equal in every run with the same seed. */
export interface Random {
  /** From 0 to less than 1. */
  next(): number;
  /** An integer from 0 to less than `n`. */
  int(n: number): number;
  /** A number from `a` to less than `b`. */
  between(a: number, b: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
  /**
   * Returns another stream, which depends only on the seed and the name. If one actor is left out of a scenario, all other
   * actors still draw the same numbers.
   */
  fork(name: string): Random;
}

export function createRandom(seed: number | string): Random {
  const path = String(seed);
  const draw = stream(path);
  const int = (n: number) => Math.floor(draw() * n);
  return {
    next: draw,
    int,
    between: (a, b) => a + draw() * (b - a),
    pick(list) {
      if (list.length === 0) {
        throw new Error("nothing to pick from");
      }
      return list[int(list.length)] as (typeof list)[number];
    },
    chance: (probability) => draw() < probability,
    fork: (name) => createRandom(`${path}/${name}`),
  };
}

/** The generator sfc32 of the test suite PractRand. */
function stream(seed: string): () => number {
  let a = hashOf(seed, 0x9e3779b9);
  let b = hashOf(seed, 0x243f6a88);
  let c = hashOf(seed, 0xb7e15162);
  let counter = 1;
  const draw = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first numbers of similar seeds would be similar.
  for (let round = 0; round < 12; round++) {
    draw();
  }
  return draw;
}

function hashOf(text: string, start: number): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash | 0;
}
