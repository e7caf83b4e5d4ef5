import { createHistogram } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createEventLoopLag } from "../../src/thread/overload.ts";

describe("overload detection", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function detector() {
    const delays = Object.assign(createHistogram(), {
      isEnabled: false,
      enable() {
        delays.isEnabled = true;
        return true;
      },
      disable() {
        delays.isEnabled = false;
        return true;
      },
      [Symbol.dispose]() {},
    });
    const lag = createEventLoopLag(delays);
    return {
      lag,
      delays,
      /** Simulates one request, followed by a second in which the event loop has these delays. */
      second(...delaysMs: readonly number[]) {
        const isLasting = lag.isLasting();
        for (const ms of delaysMs) {
          delays.record(ms * 1e6);
        }
        vi.advanceTimersByTime(1000);
        return isLasting;
      },
    };
  }

  const inTime = Array<number>(45).fill(21);
  const late = Array<number>(9).fill(110);

  test("a thread becomes overloaded after a second in which every sample is late, and recovers at the first sample in time", () => {
    const { lag, second } = detector();
    expect(second(...late)).toBe(false);
    expect(second(...late)).toBe(true);
    expect(second(...inTime)).toBe(true);
    expect(lag.isLasting()).toBe(false);
  });

  test("a thread is not overloaded after a single long pause", () => {
    const { lag, second } = detector();
    second(10_000, ...inTime);
    expect(lag.isLasting()).toBe(false);
  });

  test("a thread is not overloaded after four long pauses of the machine", () => {
    const { lag, second } = detector();
    for (const ms of [80, 2_000, 2_000, 2_000]) {
      second(ms);
      expect(lag.isLasting()).toBe(false);
    }
  });

  test("a thread is overloaded after five consecutive event loop iterations of one second", () => {
    const { lag, second } = detector();
    for (let turn = 0; turn < 4; turn++) {
      second(1_000);
      expect(lag.isLasting()).toBe(false);
    }
    second(1_000);
    expect(lag.isLasting()).toBe(true);
  });

  test("a thread is not overloaded if at least one sample a second is in time", () => {
    const { lag, second } = detector();
    second(...late, 21);
    expect(lag.isLasting()).toBe(false);
  });

  test("a thread is not overloaded by event loop iterations of 60 ms", () => {
    const { lag, second } = detector();
    second(...Array<number>(16).fill(60));
    expect(lag.isLasting()).toBe(false);
  });

  test("the event loop is measured only while requests arrive", () => {
    const { lag, delays, second } = detector();
    expect([delays.isEnabled, vi.getTimerCount()]).toEqual([false, 0]);
    second(...late);
    expect([delays.isEnabled, vi.getTimerCount()]).toEqual([true, 1]);
    vi.advanceTimersByTime(1000);
    expect([delays.isEnabled, vi.getTimerCount()]).toEqual([false, 0]);
    expect(lag.isLasting()).toBe(false);
    lag[Symbol.dispose]();
    expect([delays.isEnabled, vi.getTimerCount()]).toEqual([false, 0]);
  });
});

test("a thread is overloaded by event loop iterations of 100 ms", async () => {
  using lag = createEventLoopLag();
  const endsAt = performance.now() + 10_000;
  while (!lag.isLasting() && performance.now() < endsAt) {
    for (const until = performance.now() + 100; performance.now() < until; ) {}
    await setImmediate();
  }
  expect(lag.isLasting()).toBe(true);
});
