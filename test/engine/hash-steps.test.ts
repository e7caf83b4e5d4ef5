import { describe, expect, test } from "vitest";
import { hashMbFor } from "../../src/engine/catalog.ts";
import { hashStepsUpTo } from "../../src/engine/hash-steps.ts";
import { buildOf } from "./build-of.ts";

const deepest = Number.POSITIVE_INFINITY;
const pairs = (...args: Parameters<typeof hashStepsUpTo>) =>
  hashStepsUpTo(...args).map(({ depthMax, hashMb }) => [depthMax, hashMb]);

describe("the steps of hash tables", () => {
  test.each([
    [
      16,
      [
        [8, 1],
        [12, 4],
        [deepest, 16],
      ],
    ],
    [
      64,
      [
        [8, 1],
        [12, 4],
        [deepest, 64],
      ],
    ],
    // None is above what the operator has set, and equal ones are one.
    [
      4,
      [
        [8, 1],
        [deepest, 4],
      ],
    ],
    [
      3,
      [
        [8, 1],
        [deepest, 3],
      ],
    ],
    [1, [[deepest, 1]]],
    // Making a large table takes longer than clearing it.
    [65, [[deepest, 65]]],
    [4096, [[deepest, 4096]]],
  ])("the steps of hash tables are right up to %i MiB", (hashMb, steps) => {
    expect(pairs(hashMb)).toEqual(steps);
  });

  test("the steps of hash tables are within the engine's bounds", () => {
    expect(pairs(16, 2)).toEqual([
      [8, 2],
      [12, 4],
      [deepest, 16],
    ]);
    expect(pairs(16, 8)).toEqual([
      [12, 8],
      [deepest, 16],
    ]);
    expect(pairs(16, 16)).toEqual([[deepest, 16]]);
    expect(pairs(16, 32)).toEqual([[deepest, 16]]);
  });

  test("the steps of hash tables choose a search's table by its depth", () => {
    const build = buildOf({ hashSteps: hashStepsUpTo(16) });
    const of = (depth: number) => hashMbFor(build, { depth });
    expect([1, 8, 9, 12, 13, 30, 245].map(of)).toEqual([1, 1, 4, 4, 16, 16, 16]);
  });
});
