import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createWindows } from "../../src/storage/memory/windows.ts";

const windowOf = (subject: string, windowMs = 1000) => ({ rate: "plan/rate", subject, windowMs });
const [a, b] = [windowOf("a"), windowOf("b")];
const unused = { used: 0, endsInMs: 1000 };

describe("windows", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a rate window starts with the first request of a caller, and resets completely at its end", async () => {
    const windows = createWindows();
    expect(windows.of(a)).toEqual(unused);
    expect(windows.add(a, 2)).toEqual({ used: 2, endsInMs: 1000 });
    await vi.advanceTimersByTimeAsync(400);
    expect(windows.add(b, 1)).toEqual({ used: 1, endsInMs: 1000 });
    expect(windows.add(a, 3)).toEqual({ used: 5, endsInMs: 600 });
    await vi.advanceTimersByTimeAsync(599);
    expect(windows.of(a)).toEqual({ used: 5, endsInMs: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(windows.of(a)).toEqual(unused);
    expect(windows.of(b)).toEqual({ used: 1, endsInMs: 400 });
    expect(windows.add(a, 1)).toEqual({ used: 1, endsInMs: 1000 });
  });

  test("setting the wall clock does not change rate windows", () => {
    const windows = createWindows();
    windows.add(a, 1);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(windows.of(a)).toEqual({ used: 1, endsInMs: 1000 });
    vi.setSystemTime(Date.now() + 7_200_000);
    expect(windows.of(a)).toEqual({ used: 1, endsInMs: 1000 });
  });

  test("a rate window gets unused requests back only before the window ends", async () => {
    const windows = createWindows();
    windows.add(a, 2);
    expect(windows.add(a, -1)).toEqual({ used: 1, endsInMs: 1000 });
    await vi.advanceTimersByTimeAsync(1000);
    windows.add(a, -1);
    expect(windows.of(a)).toEqual(unused);
    expect(windows.add(a, 1)).toEqual({ used: 1, endsInMs: 1000 });
  });

  test("rate windows of an earlier process continue and end at their original time, but not later than a new window would end", async () => {
    const windows = createWindows();
    windows.restore(windowOf("ended"), { used: 1, endsInMs: -5 });
    windows.restore(a, { used: 7, endsInMs: 300 });
    windows.restore(b, { used: 8, endsInMs: 5000 });
    expect(windows.of(windowOf("ended"))).toEqual(unused);
    expect(windows.add(a, 1)).toEqual({ used: 8, endsInMs: 300 });
    expect(windows.of(b)).toEqual({ used: 8, endsInMs: 1000 });
    await vi.advanceTimersByTimeAsync(300);
    expect(windows.of(a)).toEqual(unused);
    expect(windows.of(b)).toEqual({ used: 8, endsInMs: 700 });
    await vi.advanceTimersByTimeAsync(700);
    expect(windows.of(b)).toEqual(unused);
  });

  test("rate windows of different rates or callers are independent", () => {
    const windows = createWindows();
    windows.add(a, 1);
    expect(windows.of({ ...a, rate: "other/rate" })).toEqual(unused);
    expect(windows.of(b)).toEqual(unused);
  });

  test("rate windows that have ended use no memory", async () => {
    const windows = createWindows();
    const sizes: number[] = [];
    for (let subject = 0; subject < 5000; subject++) {
      windows.add(windowOf(String(subject)), 1);
      await vi.advanceTimersByTimeAsync(10);
      sizes.push(windows.size);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
  });
});
