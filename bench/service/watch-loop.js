// @ts-check
/**
 * Imported into a server that is measured: begins to watch its event loop at the first SIGUSR2, and at every further one
 * writes into the file `BENCH_LOOP_FILE` how late it was since the one before, and since the first, as a line of JSON.
 * Plain JavaScript: what strips types would lie in the memory that is measured.
 */
import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";

/** How often Node looks, in milliseconds: it tells the time between two looks, and so much of that is no delay. */
const resolution = 5;

const file = process.env.BENCH_LOOP_FILE ?? "";
const recent = monitorEventLoopDelay({ resolution });
const whole = monitorEventLoopDelay({ resolution });

/** @param {number} nanoseconds */
const delayMs = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);

function tell() {
  const told = {
    p99Ms: delayMs(recent.percentile(99)),
    mostMs: delayMs(recent.max),
    wholeP99Ms: delayMs(whole.percentile(99)),
  };
  appendFileSync(file, `${JSON.stringify(told)}\n`);
  recent.reset();
}

process.once("SIGUSR2", () => {
  recent.enable();
  whole.enable();
  process.on("SIGUSR2", tell);
});
