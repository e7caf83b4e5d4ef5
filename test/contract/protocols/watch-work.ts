import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { EnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";

/** The milliseconds in which a search that still waits for the engine would have started. */
const settleMs = 30;

/** Observes whether the engines search, by the commands that they receive. */
export function watchWork(engines: EnginesInProcess) {
  return {
    /** Expects that the engines are searching. */
    async expectWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBeGreaterThan(0);
    },

    /** Expects, just after the caller has disconnected, that the engines are stopped and start no other search of the caller. */
    async expectNoWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBe(0);
      const { begun } = engines;
      await sleep(settleMs);
      expect([engines.searching, engines.begun], "stays idle").toEqual([0, begun]);
    },
  };
}
