import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { enginesRunning } from "../../engine/processes.ts";
import { patienceMs } from "../../support/patience.ts";

/** CPU time of the engines that this test file runs, in ticks of 10 ms: what they do, whatever the server says. */
function ticksOfEngines(): number {
  return enginesRunning()
    .map((pid) => {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(fields[11]) + Number(fields[12]);
    })
    .reduce((sum, ticks) => sum + ticks, 0);
}

const intervalMs = 250;
/** What an idle engine may use in an interval: nothing, but for a word of its garbage collector. */
const idleTicks = 2;

async function ticksInInterval(): Promise<number> {
  const before = ticksOfEngines();
  await sleep(intervalMs);
  return ticksOfEngines() - before;
}

/** The engines are searching. */
export async function expectWork(): Promise<void> {
  await expect.poll(ticksInInterval, { timeout: patienceMs, interval: 1 }).toBeGreaterThan(idleTicks);
}

/** What is promised to those who wait: so much an engine may work on after its caller has left. */
const freeTicks = 50;

/** Called when the caller has just left: the engines stand still, and have hardly worked since. */
export async function expectNoWork(): Promise<void> {
  const before = ticksOfEngines();
  await expect.poll(ticksInInterval, { timeout: patienceMs, interval: 1 }).toBeLessThanOrEqual(idleTicks);
  expect(ticksOfEngines() - before, "CPU time after the caller has left").toBeLessThanOrEqual(freeTicks);
  expect(await ticksInInterval(), "stays idle").toBeLessThanOrEqual(idleTicks);
}
