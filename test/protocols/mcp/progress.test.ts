import { describe, expect, test } from "vitest";
import type { Caller } from "../../../src/protocols/mcp/caller.ts";
import { evaluate } from "../../../src/protocols/mcp/evaluation.ts";
import { reviewGame } from "../../../src/protocols/mcp/tools/review-game.ts";
import { startFen } from "../../chess/validated.ts";

const nobody = () => expect.fail("no other call was expected");

const nothingJudged = {
  accuracy: null,
  average_centipawn_loss: null,
  inaccuracies: 0,
  mistakes: 0,
  blunders: 0,
};
const emptyReview = {
  start_fen: startFen,
  tags: {},
  engine: null,
  opening: null,
  players: { white: nothingJudged, black: nothingJudged },
  moves: [],
  pgn: "*",
  search: { limits: { depth: 1 } },
  warnings: [],
  summary: "",
};

/** A caller whose search waits, and then has these states. */
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
    check: nobody,
    play: nobody,
    look: nobody,
    readGame: nobody,
    lookThrough: nobody,
  };
}

describe("progress of a review", () => {
  const game = { pgn: "1. e4 {best by test} e5 2. Nf3" };

  test("review_game reads the game for its total only when the service has read it and explains the first move", async () => {
    const asked: string[] = [];
    const caller: Caller = {
      ...callerOf([]),
      async *stream() {
        asked.push("stream");
        for (const [index, san] of ["e4", "e5", "Nf3"].entries()) {
          const score = { cp: 30, mate: null, bound: "exact", win_percent: 53 };
          const move = { san, uci: "e2e4", fen_after: startFen };
          yield {
            queued: null,
            move: { ply: index + 1, move, evaluation: score, judgement: null },
            review: null,
          };
        }
        yield { queued: null, move: null, review: emptyReview };
      },
      async lookThrough() {
        asked.push("lookThrough");
        return { fen: "startpos", moves: ["e2e4", "e7e5", "g1f3"] };
      },
    };
    const steps: unknown[] = [];
    await reviewGame.call(game, caller, ({ progress, total }) => void steps.push([progress, total]));
    expect(asked).toEqual(["stream", "lookThrough"]);
    expect(steps).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });
});

test.each([
  // A search that nodes end has a last state of the depth that it did not finish.
  [
    [1, 2, 3, 3],
    [0, 1, 2, 3],
  ],
  [[0], [0]],
])(
  "states of the depths %j are reported as the progress %j, and the last state is the answer",
  async (depths, told) => {
    const progress: number[] = [];
    const found = await evaluate({}, callerOf(depths), (step) => void progress.push(step.progress));
    expect(progress).toEqual(told);
    expect(found.search.nodes).toBe(depths.length - 1);
  },
);
