import { beforeAll, vi } from "vitest";

/**
 * Makes `performance.now` adjustable for the tests of a file. The app uses this clock for rate windows and durations. Timers
 * are not affected.
 * @returns a function that moves the clock forward by milliseconds
 */
export function useTurnedClock(): (ms: number) => void {
  let aheadMs = 0;
  beforeAll(() => {
    const now = performance.now.bind(performance);
    const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + aheadMs);
    return () => spy.mockRestore();
  });
  return (ms) => {
    aheadMs += ms;
  };
}
