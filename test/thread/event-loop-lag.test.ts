import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createBusyShare, createEventLoopLag } from "../../src/thread/event-loop.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** An event loop whose turns last as long as they are told, and that does nothing else. */
function busyLoop() {
  let nowMs = 0;
  let share = 1;
  const now = () => nowMs;
  const lag = createEventLoopLag({ now, busyShare: () => share, everyMs: 20, lateMs: 50, lastingMs: 500 });
  nowMs = 100;
  lag.isLasting();
  return {
    lag,
    /** From now on it is busy for such a share of the time. */
    calmTo(busyShare: number) {
      share = busyShare;
    },
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

test("nobody looks before somebody asks, nor while there is little to do", () => {
  let share = 1;
  let nowMs = 0;
  const lag = createEventLoopLag({ now: () => nowMs, busyShare: () => share });
  expect(vi.getTimerCount()).toBe(0);
  nowMs = 1_000;
  share = 0.49;
  lag.isLasting();
  expect(vi.getTimerCount()).toBe(0);
  nowMs = 2_000;
  share = 0.5;
  lag.isLasting();
  expect(vi.getTimerCount()).toBe(1);
  lag[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test("who asks at every turn asks the thread ten times a second", () => {
  let nowMs = 0;
  let asked = 0;
  const busyShare = () => {
    asked++;
    return 0;
  };
  const lag = createEventLoopLag({ now: () => nowMs, busyShare });
  for (; nowMs < 1_000; nowMs++) {
    lag.isLasting();
  }
  expect(asked).toBe(9);
});

test("a lag ends when there is little to do, and the next one has to last as long", () => {
  const { lag, turns, calmTo } = busyLoop();
  turns(8, 100);
  expect(lag.isLasting()).toBe(true);
  calmTo(0.2);
  turns(1, 100);
  expect(lag.isLasting()).toBe(true);
  turns(5, 20);
  expect(lag.isLasting()).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
  calmTo(1);
  turns(1, 100);
  expect(lag.isLasting()).toBe(false);
  expect(vi.getTimerCount()).toBe(1);
  turns(6, 100);
  expect(lag.isLasting()).toBe(false);
  turns(2, 100);
  expect(lag.isLasting()).toBe(true);
});

test("the busy share of a thread is larger while it works than while it sleeps", async () => {
  vi.useRealTimers();
  const busyShare = createBusyShare();
  await sleep(300);
  const asleep = busyShare();
  for (let turn = 0; turn < 10; turn++) {
    for (const until = performance.now() + 20; performance.now() < until; ) {}
    await setImmediate();
  }
  const busy = busyShare();
  expect(busy).toBeGreaterThan(0.5);
  expect(asleep).toBeLessThan(busy);
});
