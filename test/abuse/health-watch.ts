import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Watched } from "./health-prober.ts";
import { forgetPeak, vitalsOf } from "./processes-of.ts";
import type { StartedService } from "./started-service.ts";

/** The availability and memory of a service while it was watched. */
export interface Health {
  /** The number of probes, at least 20. */
  readonly probes: number;
  /** The number of probes that were not answered with 200. */
  readonly failed: number;
  /** The median time of a probe: elapsed time less the time that the machine kept prober or service waiting for a core. */
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** The greatest memory of the server, and the growth since before the watch. */
  readonly peakBytes: number;
  readonly grownBytes: number;
}

export const mib = 1024 * 1024;

/**
 * Probers for the next watch, started in advance because a start takes longer than many an attack. They end with this process.
 */
const idleProbers: ChildProcess[] = [];

function startProber(): ChildProcess {
  const prober = fork(fileURLToPath(new URL("health-prober.ts", import.meta.url)), { execArgv: [] });
  prober.unref();
  prober.channel?.unref();
  return prober;
}

/**
 * Probes `/healthz` until the watch ends, from a process of its own, because a busy test process would measure itself.
 * @param probesMin the least number of probes; fewer than 20 say nothing about the worst time
 */
export async function watchHealth(
  { url, pid }: Pick<StartedService, "url" | "pid">,
  probesMin = 20,
): Promise<() => Promise<Health>> {
  forgetPeak(pid);
  const { rssBytes } = vitalsOf(pid);
  const prober = idleProbers.pop() ?? startProber();
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

/**
 * The most memory in bytes that the server may use under attack: a quarter more than in a million ordinary requests
 * (docs/measured.md: 200 MB).
 */
const serverMaxBytes = 250e6;

/**
 * The most memory in bytes that a shared service may use. It is greater because the heap keeps the memory of earlier test files
 * for a while.
 */
export const sharedMaxBytes = 400e6;

/**
 * Expects that other callers notice nothing: every probe was answered with 200 within 100 ms, which the contract promises under
 * overload, and the server stayed within its memory limit.
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

/** Returns a quantile of unsorted times. */
export function quantileOf(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
