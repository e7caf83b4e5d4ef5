import { vi } from "vitest";

/**
 * Lets a test turn the clock of an engine's watch itself: the times of a running service are tried to the
 * millisecond, whatever the machine is doing. Immediates stay real: they have no time.
 */
export function takeClock(): void {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
  });
}

/** Turns the clock on, and lets happen what is due. */
export async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise(setImmediate);
}

export function giveClockBack(): void {
  vi.useRealTimers();
}

/** Timers that have neither run out nor been cleared. */
export function openTimers(): number {
  return vi.getTimerCount();
}
