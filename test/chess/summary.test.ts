import { describe, expect, test } from "vitest";
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

describe("the summary", () => {
  test.each([
    [cp(0), "white", "d4", "The position is equal (0.00). Best move: d4."],
    [cp(-24), "black", "e5", "The position is equal (-0.24). Best move: e5."],
    [cp(35), "white", "d4", "White is slightly better (+0.35). Best move: d4."],
    [cp(-25), "black", "d5", "Black is slightly better (-0.25). Best move: d5."],
    [cp(100), "white", "Rd1", "White is clearly better (+1.00). Best move: Rd1."],
    [cp(299), "white", "Rd1", "White is clearly better (+2.99). Best move: Rd1."],
    [cp(-612), "black", "Qxg2", "Black is winning (-6.12). Best move: Qxg2."],
    [mate(3), "white", "Qh7+", "White mates in 3. Best move: Qh7+."],
    [mate(-1), "black", "Qh2#", "Black mates in 1. Best move: Qh2#."],
    [cp(35, "lower"), "white", "d4", "White is slightly better (at least +0.35). Best move: d4."],
    [cp(-35, "upper"), "black", "d5", "Black is slightly better (at most -0.35). Best move: d5."],
  ] as const)("of %j with %s to move and %s names the better side", (score, turn, bestMoveSan, sentence) => {
    expect(summarize({ score, bestMoveSan, terminal: undefined, turn })).toBe(sentence);
  });

  test("says whose the best move is when it is not the better side's", () => {
    const about = { bestMoveSan: "Kf8", terminal: undefined, turn: "black" } as const;
    expect(summarize({ ...about, score: mate(2) })).toBe("White mates in 2. Best move for Black: Kf8.");
    expect(summarize({ ...about, score: cp(400) })).toBe(
      "White is winning (+4.00). Best move for Black: Kf8.",
    );
  });

  test.each([
    ["checkmate", "white", "1-0", "Checkmate: White has won."],
    ["checkmate", "black", "0-1", "Checkmate: Black has won."],
    ["stalemate", undefined, "1/2-1/2", "Draw by stalemate."],
    ["insufficient_material", undefined, "1/2-1/2", "Draw by insufficient material."],
    ["seventyfive_moves", undefined, "1/2-1/2", "Draw by the 75-move rule."],
    ["fivefold_repetition", undefined, "1/2-1/2", "Draw by fivefold repetition."],
  ] as const)("of %s won by %s is the result and no more", (reason, winner, result, sentence) => {
    const terminal: Terminal = { reason, winner, result };
    const score = scoreOfTerminal(terminal);
    expect(summarize({ score, bestMoveSan: undefined, terminal, turn: "white" })).toBe(sentence);
  });
});
