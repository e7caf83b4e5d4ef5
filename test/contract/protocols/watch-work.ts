import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { EnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";

/** Milliseconds. A waiting search starts within this time after an engine becomes free. */
const settleMs = 30;

/** Reads the commands to the engines to find out when searches start and end. */
export function watchWork(engines: EnginesInProcess) {
  return {
    async expectWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBeGreaterThan(0);
    },

    /**
     * Call this function after the client has disconnected. Expects that all engines stop, and that no waiting search starts.
     */
    async expectNoWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBe(0);
      const { begun } = engines;
      await sleep(settleMs);
      expect([engines.searching, engines.begun], "stays idle").toEqual([0, begun]);
    },
  };
}
