import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEventLoopLag } from "../../src/thread/event-loop.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** An event loop whose turns last as long as they are told. */
function busyLoop() {
  let nowMs = 0;
  const lag = createEventLoopLag({ now: () => nowMs, everyMs: 20, lateMs: 50, lastingMs: 500 });
  return {
    lag,
    /** The timer fires once in each turn, however many of its times have passed. */
    turns(count: number, ms: number) {
      for (let turn = 0; turn < count; turn++) {
        nowMs += Math.max(ms, 20);
        vi.advanceTimersByTime(20);
      }
    },
  };
}

test("one long wait is no lasting lag, however long", () => {
  const { lag, turns } = busyLoop();
  turns(1, 10_000);
  expect(lag.isLasting()).toBe(false);
  turns(1, 20);
  expect(lag.isLasting()).toBe(false);
});

test("a few long waits of a machine that stands still are none", () => {
  const { lag, turns } = busyLoop();
  turns(1, 80);
  turns(3, 2_000);
  expect(lag.isLasting()).toBe(false);
});

test("longer turns are after fewer of them, and more time", () => {
  const { lag, turns } = busyLoop();
  turns(4, 1_000);
  expect(lag.isLasting()).toBe(false);
  turns(1, 1_000);
  expect(lag.isLasting()).toBe(true);
});

test("many short turns are none", () => {
  const { lag, turns } = busyLoop();
  turns(200, 30);
  expect(lag.isLasting()).toBe(false);
});

test("long turns one behind the other are, after half a second, until a short one", () => {
  const { lag, turns } = busyLoop();
  turns(6, 100);
  expect(lag.isLasting()).toBe(false);
  turns(2, 100);
  expect(lag.isLasting()).toBe(true);
  turns(1, 20);
  expect(lag.isLasting()).toBe(false);
});
