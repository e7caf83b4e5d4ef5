import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type MoveReview, MoveReviewSchema } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { gameFromFen, playLine } from "../../../web/src/game/game.ts";
import { isGoodAttempt, knownPercent } from "../../../web/src/review/attempt.ts";

const mistake: MoveReview = create(MoveReviewSchema, {
  move: { uci: "g2g4" },
  evaluation: { winPercent: 0 },
  best: {
    move: { uci: "e2e4" },
    score: { winPercent: 45 },
    alternatives: [{ move: { uci: "b1c3" }, score: { winPercent: 42 } }],
  },
});

function afterMoves(moves: readonly string[]) {
  const reading = gameFromFen("startpos");
  const start = reading.kind === "game" ? reading.game.start.position : expect.fail("startpos");
  return playLine(start, moves).positions.at(-1) ?? expect.fail("no move");
}

test.each([
  ["e2e4", 50],
  // Endgame tables may know another result than the engine.
  ["b1c3", undefined],
  ["g2g4", 0],
  ["a2a3", undefined],
])("the review knows the chances after %s: %s", (uci, percent) => {
  expect(knownPercent(mistake, 50, uci, afterMoves([uci]))).toBe(percent);
});

test("the rules know the chances after a checkmate", () => {
  expect(knownPercent(mistake, 50, "d8h4", afterMoves(["f3", "e5", "g4", "Qh4"]))).toBe(0);
});

test.each([
  ["white", 40, true],
  ["white", 39.9, false],
  ["white", 70, true],
  ["black", 50, true],
  ["black", 50.1, false],
] as const)(
  "an attempt of %s after which White's chances are %s instead of 45 is right: %s",
  (side, percent, isRight) => {
    expect(isGoodAttempt(45, percent, side)).toBe(isRight);
  },
);
