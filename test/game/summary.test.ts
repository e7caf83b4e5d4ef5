import { expect, test } from "vitest";
import { summarizeReview } from "../../src/game/summary.ts";
import { type evaluate, gameOf, review } from "./games.ts";

function summaryOf(pgn: string, evaluations: Parameters<typeof evaluate>[1]): string {
  const game = gameOf(pgn);
  return summarizeReview(game, review(game, evaluations));
}

const after = (...scores: readonly number[]) =>
  scores.map((score) => ({ score, lines: [["a2a3"] as const] }));

test("a summary has both accuracies and the worst move with its move number", () => {
  const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 41";
  const black = `[FEN "${fen}"]\n\n41... e5 42. e4 Nf6 43. Nf3`;
  expect(summaryOf(black, after(0, 0, 0, 200, 20))).toMatch(
    /^White played with \d\d\.\d% accuracy, Black with \d\d\.\d%; the game turned at 42… Nf6 \(blunder\)\.$/,
  );
  expect(summaryOf("1. e4 e5 2. Nf3 Nc6", after(15, -135, 15, 15, 15))).toContain(
    "; the game turned at 1. e4 (mistake).",
  );
});

test("a summary of a game with only inaccuracies says that there were no mistakes", () => {
  expect(summaryOf("1. e4 e5", after(15, 15, 90))).toMatch(
    /Black with .*%; there were no mistakes or blunders\.$/,
  );
});

test("a summary has no accuracies if only one side has moved", () => {
  expect(summaryOf("1. g4", after(15, -300))).toBe(
    "The game is too short for accuracies; the game turned at 1. g4 (blunder).",
  );
});
