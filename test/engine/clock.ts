import { afterEach, beforeEach, expect, vi } from "vitest";

/**
 * Replaces the timers by fake ones, so that a test checks time limits to the millisecond, however busy the machine
 * is. Immediates stay real, because they do not depend on time.
 */
export function takeClock(): void {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
  });
}

/** Advances the clock, and runs everything that is due. */
export async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise(setImmediate);
}

export function giveClockBack(): void {
  vi.useRealTimers();
}

/** The number of timers that have neither fired nor been cleared. */
export function openTimers(): number {
  return vi.getTimerCount();
}

/** Uses the fake clock in a file or group of tests. */
export function useClock(): void {
  beforeEach(takeClock);
  afterEach(async () => {
    await wait(0);
    // A timer that outlives its search or its engine could kill the engine of another test.
    const open = openTimers();
    giveClockBack();
    expect(open).toBe(0);
  });
}
