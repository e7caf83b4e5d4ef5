import { describe, expect, test } from "vitest";
import type { EngineSession } from "../../src/engine/engine.ts";
import { profileOf } from "../../src/engine/profiles.ts";
import { selfTest } from "../../src/engine/self-test.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, fakeAnswer } from "./fake-engines.ts";

const forever = new AbortController().signal;
const stockfish = profileOf("stockfish");

/**
 * Returns a fake engine. If `mate` is given, every search finds a mate in `mate` moves. `lastMove` is the best move of the
 * third search.
 */
async function engine(
  mate: number | undefined,
  nodesOfSearch: (number: number) => number,
  lastMove = fakeAnswer.bestMove,
): Promise<EngineSession> {
  const session = await createFakeEngines().start(buildOf(), forever);
  let searches = 0;
  return {
    ...session,
    async search() {
      const [line] = fakeAnswer.snapshot.lines;
      const value =
        mate === undefined ? ({ kind: "cp", cp: 900 } as const) : ({ kind: "mate", mate } as const);
      const nodes = nodesOfSearch(++searches);
      return {
        ...fakeAnswer,
        bestMove: searches === 3 ? lastMove : fakeAnswer.bestMove,
        snapshot: {
          ...fakeAnswer.snapshot,
          lines: line ? [{ ...line, score: { ...line.score, value } }] : [],
          counters: { ...fakeAnswer.snapshot.counters, nodes },
        },
      };
    },
  };
}

describe("an engine that finds the mate in two", () => {
  test("an engine is reproducible if two equal searches return the same result", async () => {
    expect(await selfTest(await engine(2, () => 100), stockfish, 1, forever)).toBe(100);
  });

  test.each<[string, number, (number: number) => number, string?]>([
    ["two equal searches visit different nodes", 1, (number) => number],
    ["two equal searches without node counts return different moves", 1, () => 0, "d2d4"],
    ["the engine has more than one thread", 2, () => 100],
  ])("an engine is trusted but not reproducible if %s", async (_, threads, nodesOfSearch, move) => {
    expect(await selfTest(await engine(2, nodesOfSearch, move), stockfish, threads, forever)).toBeUndefined();
  });
});

describe("an engine is not trusted", () => {
  test.each([undefined, 1, 3, -2])(
    "an engine that finds a mate in %s instead of the known mate in two is not trusted",
    async (mate) => {
      await expect(selfTest(await engine(mate, () => 100), stockfish, 1, forever)).rejects.toThrow(
        "the mate in two",
      );
    },
  );
});

test.each(["lc0", "unknown", "a family that nobody knows"])(
  "an engine of the family %s needs no mate, and is not reproducible even if equal searches are equal",
  async (family) => {
    const tested = selfTest(await engine(undefined, () => 100), profileOf(family), 1, forever);
    expect(await tested).toBeUndefined();
  },
);
