import fc from "fast-check";
import { expect, test } from "vitest";
import { timeOfFixed, timeOfMove } from "../../../src/cli/uci/time-of-move.ts";

test.each([
  [
    "a thirtieth of the clock minus the overhead of all moves, without a time control",
    { leftMs: 300_960 },
    10_000,
  ],
  ["a thirtieth of the clock plus most of the increment", { leftMs: 300_960, incrementMs: 3000 }, 12_900],
  ["an equal part of the clock before a time control", { leftMs: 100_360, movesToGo: 10 }, 10_000],
  ["at most 40 % of the clock", { leftMs: 1030, incrementMs: 5000 }, 400],
  ["longer for the last move before a time control", { leftMs: 1030, movesToGo: 1 }, 800],
  ["minimal if the overhead of the remaining moves exceeds the clock", { leftMs: 380, incrementMs: 20 }, 1],
  ["50 ms on a clock that has run out", { leftMs: -500 }, 50],
])("the time for a move is %s", (_, clock, searchMs) => {
  const running = { incrementMs: 0, movesToGo: undefined, ...clock };
  expect(timeOfMove(running, 30).searchMs).toBe(searchMs);
});

test("the time for a move leaves the overhead on the clock, or 30 % of the time if the clock is almost zero", () => {
  const clock = fc.record({
    leftMs: fc.integer({ min: 10, max: 10_000_000 }),
    incrementMs: fc.integer({ min: 0, max: 100_000 }),
    movesToGo: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(clock, fc.integer({ min: 0, max: 5000 }), (running, overheadMs) => {
      const { searchMs, answerByMs, lastMs } = timeOfMove(running, overheadMs);
      const withMoveMs = Math.max(1, running.leftMs - overheadMs, running.leftMs * 0.4);
      const withoutMs = Math.max(1, running.leftMs - overheadMs, running.leftMs * 0.7);
      const inOrder = searchMs >= 1 && searchMs <= answerByMs && answerByMs <= lastMs;
      return inOrder && answerByMs <= withMoveMs && lastMs <= withoutMs;
    }),
  );
});

test.each([undefined, 1])(
  "the time for a move never exceeds the maximum timeout of Node, even on a huge clock, with moves to go: %s",
  (movesToGo) => {
    const { searchMs, answerByMs, lastMs } = timeOfMove({ leftMs: 1e14, incrementMs: 1e14, movesToGo }, 30);
    expect(searchMs).toBeGreaterThan(60_000);
    expect(Math.max(answerByMs, lastMs - answerByMs)).toBeLessThan(2 ** 31);
  },
);

test("the time for a move with movetime is exactly movetime, without the overhead", () => {
  expect(timeOfFixed(100, 30)).toEqual({ searchMs: 100, answerByMs: 130, lastMs: 430 });
});
