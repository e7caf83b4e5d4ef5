import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { forgetPeak, vitalsOf } from "./processes-of.ts";
import type { StartedService } from "./started-service.ts";

/** How a service fared while it was watched. */
export interface Health {
  readonly probes: number;
  /** Probes that were not answered with 200. */
  readonly failed: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** By how much the most memory that it had exceeds what it had before. */
  readonly grownBytes: number;
}

export const mib = 1024 * 1024;

/**
 * Asks `/healthz` over and over until told to stop, from a thread of its own: a test that is busy abusing would
 * measure itself.
 */
export async function watchHealth({
  url,
  pid,
}: Pick<StartedService, "url" | "pid">): Promise<() => Promise<Health>> {
  forgetPeak(pid);
  const { rssBytes } = vitalsOf(pid);
  const worker = new Worker(new URL("./health-prober.ts", import.meta.url), { workerData: { url } });
  await once(worker, "message");
  return async () => {
    const answered = once(worker, "message");
    worker.postMessage("stop");
    const [{ times, failed }] = (await answered) as [{ times: number[]; failed: number }];
    await worker.terminate();
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      probes: times.length + failed,
      failed,
      p99Ms: Math.round(at(0.99)),
      maxMs: Math.round(at(1)),
      grownBytes: vitalsOf(pid).peakBytes - rssBytes,
    };
  };
}
