import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { EnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";

/** A waiting search would start within these milliseconds. */
const settleMs = 30;

/** Detects searches by the commands that the engines receive. */
export function watchWork(engines: EnginesInProcess) {
  return {
    async expectWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBeGreaterThan(0);
    },

    /**
     * Expects that all engines stop and that no waiting search starts. Call this function after the client has disconnected.
     */
    async expectNoWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBe(0);
      const { begun } = engines;
      await sleep(settleMs);
      expect([engines.searching, engines.begun], "stays idle").toEqual([0, begun]);
    },
  };
}
