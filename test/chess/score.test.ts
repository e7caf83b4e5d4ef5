import { describe, expect, test } from "vitest";
import type { Terminal } from "../../src/chess/position.ts";
import { type Score, scoreForWhite, scoreOfTerminal, winPercent } from "../../src/chess/score.ts";

const cp = (value: number): Score => ({ value: { kind: "cp", cp: value }, bound: "exact", wdl: undefined });
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

  test("a score in White's view is the engine's score when White is to move", () => {
    expect(scoreForWhite(score, "white")).toEqual(score);
  });

  test("a score in White's view has sign, bound and chances turned round when Black is to move", () => {
    expect(scoreForWhite(score, "black")).toEqual({
      value: { kind: "cp", cp: -35 },
      bound: "upper",
      wdl: { win: 2, draw: 948, loss: 50 },
    });
    expect(scoreForWhite(mate(-3), "black").value).toEqual({ kind: "mate", mate: 3 });
  });

  test("a score that is turned round twice is unchanged", () => {
    for (const bound of ["exact", "lower", "upper"] as const) {
      const once = { ...score, bound };
      expect(scoreForWhite(scoreForWhite(once, "black"), "black")).toEqual(once);
    }
  });

  test("a score of nothing is 0 and never -0", () => {
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

test("the win percentage is certain for a mate", () => {
  expect(winPercent(mate(5))).toBe(100);
  expect(winPercent(mate(-1))).toBe(0);
});

test("the win percentage of a game that is over by mate is the winner's, who must be named", () => {
  expect(winPercent(mate(0), "white")).toBe(100);
  expect(winPercent(mate(0), "black")).toBe(0);
  expect(() => winPercent(mate(0))).toThrow("winner");
});

const mated = (winner: "white" | "black"): Terminal => ({ reason: "checkmate", winner, result: "1-0" });
const drawn: Terminal = { reason: "stalemate", winner: undefined, result: "1/2-1/2" };

test.each([
  [
    "the whole point for the winner by mate",
    mated("white"),
    mate(0).value,
    { win: 1000, draw: 0, loss: 0 },
    100,
  ],
  [
    "nothing for White where Black has mated",
    mated("black"),
    mate(0).value,
    { win: 0, draw: 0, loss: 1000 },
    0,
  ],
  ["an even draw", drawn, cp(0).value, { win: 0, draw: 1000, loss: 0 }, 50],
])("the score of a finished game is %s", (_, terminal, value, wdl, percent) => {
  const score = scoreOfTerminal(terminal);
  expect(score).toEqual({ value, bound: "exact", wdl });
  expect(winPercent(score, terminal.winner)).toBe(percent);
});
