import { beforeAll, vi } from "vitest";

/**
 * Lets the tests of a file move the clock forward by which the app in this process measures windows and times
 * (`performance.now`). Timers run as usual.
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
