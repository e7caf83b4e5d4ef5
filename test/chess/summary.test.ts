import { expect, test } from "vitest";
import type { Terminal } from "../../src/chess/position.ts";
import { type Bound, type Score, scoreOfTerminal, summarize } from "../../src/chess/score.ts";

const cp = (value: number, bound: Bound = "exact"): Score => ({
  value: { kind: "cp", cp: value },
  bound,
  wdl: undefined,
});
const mate = (value: number): Score => ({
  value: { kind: "mate", mate: value },
  bound: "exact",
  wdl: undefined,
});

const summaries = [
  ...(
    [
      [cp(0), "white", "d4"],
      [cp(-24), "black", "e5"],
      [cp(35), "white", "d4"],
      [cp(-25), "black", "d5"],
      [cp(100), "white", "Rd1"],
      [cp(299), "white", "Rd1"],
      [cp(-612), "black", "Qxg2"],
      [mate(3), "white", "Qh7+"],
      [mate(-1), "black", "Qh2#"],
      [cp(35, "lower"), "white", "d4"],
      [cp(-35, "upper"), "black", "d5"],
      [mate(2), "black", "Kf8"],
      [cp(400), "black", "Kf8"],
    ] as const
  ).map(([score, turn, bestMoveSan]) => summarize({ score, bestMoveSan, terminal: undefined, turn })),
  ...(
    [
      { reason: "checkmate", winner: "white", result: "1-0" },
      { reason: "checkmate", winner: "black", result: "0-1" },
      { reason: "stalemate", winner: undefined, result: "1/2-1/2" },
      { reason: "insufficient_material", winner: undefined, result: "1/2-1/2" },
      { reason: "seventyfive_moves", winner: undefined, result: "1/2-1/2" },
      { reason: "fivefold_repetition", winner: undefined, result: "1/2-1/2" },
    ] satisfies Terminal[]
  ).map((terminal) =>
    summarize({ score: scoreOfTerminal(terminal), bestMoveSan: undefined, terminal, turn: "white" }),
  ),
];

// `npm run update` writes the sentences: read its difference.
test("the summary names the better side, the score in pawns or moves to mate, the best move and whose it is, or the result", () => {
  expect(summaries.join("\n")).toMatchInlineSnapshot(`
    "The position is equal (0.00). Best move: d4.
    The position is equal (-0.24). Best move: e5.
    White is slightly better (+0.35). Best move: d4.
    Black is slightly better (-0.25). Best move: d5.
    White is clearly better (+1.00). Best move: Rd1.
    White is clearly better (+2.99). Best move: Rd1.
    Black is winning (-6.12). Best move: Qxg2.
    White mates in 3. Best move: Qh7+.
    Black mates in 1. Best move: Qh2#.
    White is slightly better (at least +0.35). Best move: d4.
    Black is slightly better (at most -0.35). Best move: d5.
    White mates in 2. Best move for Black: Kf8.
    White is winning (+4.00). Best move for Black: Kf8.
    Checkmate: White has won.
    Checkmate: Black has won.
    Draw by stalemate.
    Draw by insufficient material.
    Draw by the 75-move rule.
    Draw by fivefold repetition."
  `);
});
