import { describe, expect, test } from "vitest";
import type { Terminal } from "../../src/chess/position.ts";
import {
  type Bound,
  type Score,
  scoreForWhite,
  scoreOfTerminal,
  summarize,
  winPercent,
} from "../../src/chess/score.ts";

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

describe("a score in White's view", () => {
  const score: Score = {
    value: { kind: "cp", cp: 35 },
    bound: "lower",
    wdl: { win: 50, draw: 948, loss: 2 },
  };

  test("a score from White's point of view equals the engine's score if White is to move", () => {
    expect(scoreForWhite(score, "white")).toEqual(score);
  });

  test("a score from White's point of view has the opposite sign, bound and win chances if Black is to move", () => {
    expect(scoreForWhite(score, "black")).toEqual({
      value: { kind: "cp", cp: -35 },
      bound: "upper",
      wdl: { win: 2, draw: 948, loss: 50 },
    });
    expect(scoreForWhite(mate(-3), "black").value).toEqual({ kind: "mate", mate: 3 });
  });

  test("a score is unchanged after it is inverted twice", () => {
    for (const bound of ["exact", "lower", "upper"] as const) {
      const once = { ...score, bound };
      expect(scoreForWhite(scoreForWhite(once, "black"), "black")).toEqual(once);
    }
  });

  test("an inverted score of 0 is 0 and not -0", () => {
    expect(scoreForWhite(cp(0), "black").value).toStrictEqual({ kind: "cp", cp: 0 });
    expect(scoreForWhite(mate(0), "black").value).toStrictEqual({ kind: "mate", mate: 0 });
  });
});

test.each([
  [0, 50],
  [35, 53.2],
  [100, 59.1],
  [-100, 40.9],
  [300, 75.1],
  [10_000, 100],
  [-10_000, 0],
])("the win percentage of %i centipawns is %f", (value, percent) => {
  expect(winPercent(cp(value))).toBe(percent);
});

test("the win percentage is 100 or 0 for a mate", () => {
  expect(winPercent(mate(5))).toBe(100);
  expect(winPercent(mate(-1))).toBe(0);
});

test("a known result decides the win percentage, whatever the score is", () => {
  const percents = (["white", undefined, "black"] as const).map((winner) => winPercent(cp(300), { winner }));
  expect(percents).toEqual([100, 50, 0]);
});

test("the win percentage after a checkmate is 100 or 0, and an unknown winner is an error", () => {
  expect(winPercent(mate(0), { winner: "white" })).toBe(100);
  expect(winPercent(mate(0), { winner: "black" })).toBe(0);
  expect(() => winPercent(mate(0))).toThrow("winner");
});

const mated = (winner: "white" | "black"): Terminal => ({ reason: "checkmate", winner, result: "1-0" });
const drawn: Terminal = { reason: "stalemate", winner: undefined, result: "1/2-1/2" };

test.each([
  ["1-0 if White has mated", mated("white"), mate(0).value, { win: 1000, draw: 0, loss: 0 }, 100],
  ["0-1 if Black has mated", mated("black"), mate(0).value, { win: 0, draw: 0, loss: 1000 }, 0],
  ["even after a draw", drawn, cp(0).value, { win: 0, draw: 1000, loss: 0 }, 50],
])("the score of a finished game is %s", (_, terminal, value, wdl, percent) => {
  const score = scoreOfTerminal(terminal);
  expect(score).toEqual({ value, bound: "exact", wdl });
  expect(winPercent(score, terminal)).toBe(percent);
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
  ).map(([score, turn, bestMoveSan]) =>
    summarize({ score, bestMoveSan, terminal: undefined, tablebase: undefined, turn }),
  ),
  ...(
    [
      ["win", "white", "white"],
      ["loss", "black", "white"],
      ["draw", undefined, "white"],
      ["cursed_win", undefined, "black"],
      ["blessed_loss", undefined, "white"],
    ] as const
  ).map(([category, winner, turn]) =>
    summarize({
      score: cp(-400),
      bestMoveSan: "Kf1",
      terminal: undefined,
      tablebase: { category, winner },
      turn,
    }),
  ),
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
    summarize({
      score: scoreOfTerminal(terminal),
      bestMoveSan: undefined,
      terminal,
      tablebase: undefined,
      turn: "white",
    }),
  ),
];

// `npm run update` updates this snapshot of sentences. Review the diff.
test("a summary names the better side, the score, the best move and the side to move, or the result of a finished game", () => {
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
    White wins (tablebase). Best move: Kf1.
    Black wins (tablebase). Best move for White: Kf1.
    Draw (tablebase). Best move: Kf1.
    Draw by the fifty-move rule (tablebase). Best move: Kf1.
    Draw by the fifty-move rule (tablebase). Best move: Kf1.
    Checkmate: White has won.
    Checkmate: Black has won.
    Draw by stalemate.
    Draw by insufficient material.
    Draw by the 75-move rule.
    Draw by fivefold repetition."
  `);
});
