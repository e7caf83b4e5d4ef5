import { describe, expect, test } from "vitest";
import type { EngineSession } from "../../src/engine/engine.ts";
import { selfTest } from "../../src/engine/self-test.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, fakeAnswer } from "./fake-engines.ts";

const forever = new AbortController().signal;

/** An engine that answers every search as told: the mate it sees, and the nodes it visits. */
async function engine(
  mate: number | undefined,
  nodesOfSearch: (number: number) => number,
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
        snapshot: {
          ...fakeAnswer.snapshot,
          lines: line ? [{ ...line, score: { ...line.score, value } }] : [],
          counters: { ...fakeAnswer.snapshot.counters, nodes },
        },
      };
    },
  };
}

describe("an engine is trusted", () => {
  test("an engine is trusted that sees the mate in two, and does the same twice", async () => {
    await selfTest(await engine(2, () => 100), 1, forever);
  });

  test("an engine is trusted that differs between two runs because it has more than one thread", async () => {
    await selfTest(await engine(2, (number) => number), 2, forever);
  });
});

describe("an engine is not trusted", () => {
  test.each([undefined, 1, 3, -2])(
    "an engine is not trusted that sees mate in %s instead of two",
    async (mate) => {
      await expect(selfTest(await engine(mate, () => 100), 1, forever)).rejects.toThrow("the mate in two");
    },
  );

  test("an engine is not trusted that differs between two runs with one thread", async () => {
    const forgetful = await engine(2, (number) => number);
    await expect(selfTest(forgetful, 1, forever)).rejects.toThrow("the same search visited 2 and 3 nodes");
  });
});
