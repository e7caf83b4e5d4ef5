import { describe, expect, test } from "vitest";
import {
  boardOf,
  describePosition,
  nearestMoves,
  type PlainScore,
  scoreText,
  textOf,
} from "../../../src/protocols/mcp/text.ts";

const score = (
  cp: number | null,
  mate: number | null = null,
  bound = "exact",
  win_percent = 50,
): PlainScore => ({
  cp,
  mate,
  bound,
  win_percent,
});

test.each([
  [score(135), "White +1.35"],
  [score(-80), "Black +0.80"],
  [score(0), "equal 0.00"],
  [score(-0), "equal 0.00"],
  [score(null, 3), "White mates in 3"],
  [score(null, -1), "Black mates in 1"],
  [score(null, 0, "exact", 100), "White has mated"],
  [score(null, 0, "exact", 0), "Black has mated"],
  [score(135, null, "lower"), "White at least +1.35"],
  [score(135, null, "upper"), "White at most +1.35"],
  [score(-135, null, "lower"), "Black at most +1.35"],
  [score(-135, null, "upper"), "Black at least +1.35"],
])("the score %o is written as: %s", (value, words) => {
  expect(scoreText(value)).toBe(words);
});

test("a board as text has ranks, files and the FEN", () => {
  const fen = "r3k3/8/8/3pP3/8/8/8/4K2R b Kq - 0 1";
  expect(describePosition(fen)).toBe(`Black to move. FEN: ${fen}\n\n${boardOf(fen)}`);
  expect(boardOf(fen)).toBe(
    [
      "8 r . . . k . . .",
      "7 . . . . . . . .",
      "6 . . . . . . . .",
      "5 . . . p P . . .",
      "4 . . . . . . . .",
      "3 . . . . . . . .",
      "2 . . . . . . . .",
      "1 . . . . K . . R",
      "  a b c d e f g h",
    ].join("\n"),
  );
});

describe("the moves nearest to", () => {
  const legal = ["Bb5 f1b5", "Ke2 e1e2", "Nc3 b1c3", "Ne2 g1e2", "Nf3 g1f3", "O-O e1g1", "e4 e2e4"].map(
    (move) => {
      const [san = "", uci = ""] = move.split(" ");
      return { san, uci };
    },
  );
  const nearest = (text: string, count: number) => nearestMoves(text, legal, count).map(({ san }) => san);

  test.each([
    ["Nd5", ["Nc3", "Ne2", "Nf3"]],
    ["Bf3", ["Nf3", "Bb5"]],
    ["e1e3", ["Ke2", "O-O"]],
    ["0-0-0", ["O-O"]],
    ["e5", ["e4"]],
    ["", ["Bb5"]],
  ])("the legal moves most similar to %j are listed first", (text, first) => {
    expect(nearest(text, first.length)).toEqual(first);
    expect(nearest(text, 20)).toHaveLength(legal.length);
  });
});

test("a text that is too long keeps its first complete lines, and says that it was shortened", () => {
  const rows = Array.from({ length: 9 }, (_, row) => `row ${row}`).join("\n");
  expect(textOf(["first", undefined, rows], 50)).toBe(
    "first\n\nrow 0\nrow 1\nrow 2\nrow 3\nrow 4\n(shortened)",
  );
  expect(textOf(["first", rows, "x".repeat(90)], 130)).toBe(`first\n\n${rows}\n(shortened)`);
  expect(textOf(["x".repeat(90)], 50)).toBe(`${"x".repeat(38)}\n(shortened)`);
});

test("a text that is short enough is not shortened", () => {
  expect(textOf(["one", "", "two"], 100)).toBe("one\n\ntwo");
});
