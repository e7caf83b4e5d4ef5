import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { EnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";

/** In which a search that still waits for the engine would have got it. */
const settleMs = 30;

/** Sees by what engines were told whether they search. */
export function watchWork(engines: EnginesInProcess) {
  return {
    /** The engines are searching. */
    async expectWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBeGreaterThan(0);
    },

    /** Called when the caller has just left: the engines are told to stop, and no other search of the caller begins. */
    async expectNoWork(): Promise<void> {
      await expect.poll(() => engines.searching, { timeout: patienceMs, interval: 2 }).toBe(0);
      const { begun } = engines;
      await sleep(settleMs);
      expect([engines.searching, engines.begun], "stays idle").toEqual([0, begun]);
    },
  };
}
