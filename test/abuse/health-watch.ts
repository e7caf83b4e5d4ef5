import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import type { Watched } from "./health-prober.ts";
import { forgetPeak, vitalsOf } from "./processes-of.ts";
import type { StartedService } from "./started-service.ts";

export interface Health {
  readonly probes: number;
  readonly failed: number;
  /** A response time in milliseconds, without the time in which the prober or the service waited for a processor core. */
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  readonly peakBytes: number;
  readonly grownBytes: number;
}

export const mib = 1024 * 1024;

/** Child processes are reused, because the start of a process takes longer than many attacks. */
const idleProbers: ChildProcess[] = [];

function startProber(): ChildProcess {
  const prober = fork(fileURLToPath(new URL("health-prober.ts", import.meta.url)), { execArgv: [] });
  prober.unref();
  prober.channel?.unref();
  return prober;
}

/**
 * Sends requests to `/healthz` until the returned function is called, or until the test has failed. A child process sends the
 * requests, because the test process is busy with the attack.
 * @param probesMin the minimum number of requests: use 20 or more
 * @param atEnd registers what runs after the test. A concurrent test must give the function of its own context.
 */
export async function watchHealth(
  { url, pid }: Pick<StartedService, "url" | "pid">,
  probesMin = 20,
  atEnd: (run: () => void) => void = onTestFinished,
): Promise<() => Promise<Health>> {
  forgetPeak(pid);
  const { rssBytes } = vitalsOf(pid);
  const prober = idleProbers.pop() ?? startProber();
  atEnd(() => {
    if (!idleProbers.includes(prober)) {
      prober.kill();
    }
  });
  prober.send({ url, pid, probesMin } satisfies Watched);
  await once(prober, "message");
  return async () => {
    const answered = once(prober, "message");
    prober.send("stop");
    const [{ times, failed }] = (await answered) as [Probes];
    idleProbers.push(prober);
    const { peakBytes } = vitalsOf(pid);
    return {
      probes: times.length + failed,
      failed,
      medianMs: quantileOf(times, 0.5),
      p95Ms: quantileOf(times, 0.95),
      p99Ms: quantileOf(times, 0.99),
      worstMs: quantileOf(times, 1),
      peakBytes,
      grownBytes: peakBytes - rssBytes,
    };
  };
}

/** The memory limit of the service. During a million ordinary requests, the service uses up to 200 MB (docs/measured.md). */
const serverMaxBytes = 250e6;

/**
 * The memory limit of the shared service. This limit is higher, because earlier test files have enlarged the heap of the
 * service.
 */
export const sharedMaxBytes = 400e6;

/**
 * Fails unless the service answered every health probe with the status 200 within `worstMs`. The documentation promises 100 ms.
 */
export function expectUnharmed(
  health: Health,
  {
    worstMs = 100,
    peakBytes = serverMaxBytes,
  }: { readonly worstMs?: number; readonly peakBytes?: number } = {},
): void {
  const seen = JSON.stringify(health);
  expect(health.failed, seen).toBe(0);
  expect(health.medianMs, seen).toBeLessThan(50);
  expect(health.worstMs, seen).toBeLessThan(worstMs);
  expect(health.peakBytes, seen).toBeLessThan(peakBytes);
}

interface Probes {
  readonly times: readonly number[];
  readonly failed: number;
}

/** Returns a quantile of unsorted times. A `share` of 0.5 gives the median. */
export function quantileOf(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
