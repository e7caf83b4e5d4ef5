import fc from "fast-check";
import { expect, test } from "vitest";
import { timeOfFixed, timeOfMove } from "../../../src/cli/uci/time-of-move.ts";

test.each([
  ["a thirtieth of a clock without end, less the overhead of every move", { leftMs: 300_960 }, 10_000],
  ["and nearly all of the increment", { leftMs: 300_960, incrementMs: 3000 }, 12_900],
  ["an even share where the clock is set anew", { leftMs: 100_360, movesToGo: 10 }, 10_000],
  ["two fifths of the clock at most", { leftMs: 1030, incrementMs: 5000 }, 400],
  ["more for the last move before the clock is set anew", { leftMs: 1030, movesToGo: 1 }, 800],
  ["next to nothing where the overhead of the moves to come takes all", { leftMs: 380, incrementMs: 20 }, 1],
  ["50 ms on a clock that has run out", { leftMs: -500 }, 50],
])("the time of a move is %s", (_, clock, searchMs) => {
  const running = { incrementMs: 0, movesToGo: undefined, ...clock };
  expect(timeOfMove(running, 30).searchMs).toBe(searchMs);
});

test("the time of a move leaves the overhead on the clock, or most of the time if the clock has less", () => {
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
  "a clock of any size sets timers that Node can keep, with moves to go: %s",
  (movesToGo) => {
    const { searchMs, answerByMs, lastMs } = timeOfMove({ leftMs: 1e14, incrementMs: 1e14, movesToGo }, 30);
    expect(searchMs).toBeGreaterThan(60_000);
    expect(Math.max(answerByMs, lastMs - answerByMs)).toBeLessThan(2 ** 31);
  },
);

test("movetime fixes the time of a move: only the answer may come later", () => {
  expect(timeOfFixed(100, 30)).toEqual({ searchMs: 100, answerByMs: 130, lastMs: 430 });
});
