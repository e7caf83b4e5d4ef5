import { expect, test } from "vitest";
import type { Caller } from "../../../src/protocols/mcp/caller.ts";
import { evaluate } from "../../../src/protocols/mcp/evaluation.ts";

const nobody = () => expect.fail("nobody was to be asked");

/** Who answers a search with these states, after it has waited. */
function callerOf(depths: readonly number[]): Caller {
  return {
    async *stream() {
      yield { queued: { place: 1 }, evaluation: null };
      for (const [index, depth] of depths.entries()) {
        const search = { depth, nodes: index, limits: { depth: null } };
        const score = { cp: index, mate: null, bound: "exact", win_percent: 50 };
        yield { queued: null, evaluation: { search, score, best_move: null } };
      }
    },
    once: nobody,
    judge: nobody,
    check: nobody,
    play: nobody,
    look: nobody,
    readGame: nobody,
  };
}

test.each([
  // As a search by nodes ends: its last state is of the depth that it did not finish.
  [
    [1, 2, 3, 3],
    [0, 1, 2, 3],
  ],
  [[0], [0]],
])(
  "of states of the depths %j the progress %j is told, and the last state is the answer",
  async (depths, told) => {
    const progress: number[] = [];
    const found = await evaluate({}, callerOf(depths), (step) => void progress.push(step.progress));
    expect(progress).toEqual(told);
    expect(found.search.nodes).toBe(depths.length - 1);
  },
);
