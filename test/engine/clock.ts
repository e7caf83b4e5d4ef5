import { afterEach, beforeEach, expect, vi } from "vitest";

/** Replaces all timers except `setImmediate` by fake timers, so that a busy machine does not change time limits. */
export function takeClock(): void {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
  });
}

/** Advances the clock, and waits until the due timers and their callbacks have run. */
export async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise(setImmediate);
}

export function giveClockBack(): void {
  vi.useRealTimers();
}

export function openTimers(): number {
  return vi.getTimerCount();
}

/** Uses the fake clock in the tests of the surrounding `describe` or file. */
export function useClock(): void {
  beforeEach(takeClock);
  afterEach(async () => {
    await wait(0);
    // A forgotten timer could kill the engine of the next test.
    const open = openTimers();
    giveClockBack();
    expect(open).toBe(0);
  });
}
