import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { forgetPeak, vitalsOf } from "./processes-of.ts";
import type { StartedService } from "./started-service.ts";

/** How a service fared while it was watched. */
export interface Health {
  readonly probes: number;
  /** Probes that were not answered with 200. */
  readonly failed: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /**
   * For how long the service itself ran while a probe waited: what the probe would have taken on a machine that does
   * nothing else, and so what the promise of 100 ms is measured by where a test keeps every core busy.
   */
  readonly ownP95Ms: number;
  readonly ownP99Ms: number;
  readonly ownMaxMs: number;
  /** By how much the most memory that it had exceeds what it had before. */
  readonly grownBytes: number;
}

export const mib = 1024 * 1024;

/**
 * Asks `/healthz` over and over until told to stop, from a process of its own: a test that is busy abusing would
 * measure itself.
 */
export async function watchHealth({
  url,
  pid,
}: Pick<StartedService, "url" | "pid">): Promise<() => Promise<Health>> {
  forgetPeak(pid);
  const { rssBytes } = vitalsOf(pid);
  const prober = fork(fileURLToPath(new URL("health-prober.ts", import.meta.url)), [url, String(pid)], {
    execArgv: [],
  });
  await once(prober, "message");
  return async () => {
    const answered = once(prober, "message");
    prober.send("stop");
    const [{ times, ownTimes, failed }] = (await answered) as [Probes];
    prober.disconnect();
    if (times.length + failed === 0) {
      throw new Error("nothing was probed while it was watched");
    }
    return {
      probes: times.length + failed,
      failed,
      p99Ms: quantileOf(times, 0.99),
      maxMs: quantileOf(times, 1),
      ownP95Ms: quantileOf(ownTimes, 0.95),
      ownP99Ms: quantileOf(ownTimes, 0.99),
      ownMaxMs: quantileOf(ownTimes, 1),
      grownBytes: vitalsOf(pid).peakBytes - rssBytes,
    };
  };
}

interface Probes {
  readonly times: readonly number[];
  readonly ownTimes: readonly number[];
  readonly failed: number;
}

function quantileOf(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
