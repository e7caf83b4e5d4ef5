import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Watched } from "./health-prober.ts";
import { forgetPeak, vitalsOf } from "./processes-of.ts";
import type { StartedService } from "./started-service.ts";

/** How a service fared while it was watched. */
export interface Health {
  /** At least 20. */
  readonly probes: number;
  /** Probes that were not answered with 200. */
  readonly failed: number;
  /** Elapsed time less the time for which the machine kept prober or service waiting for a core. */
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** The most memory that the server had, and how much more that is than what it had before. */
  readonly peakBytes: number;
  readonly grownBytes: number;
}

export const mib = 1024 * 1024;

/** Probers for the next watch, because a start takes longer than many an attack. They end with this process. */
const idleProbers: ChildProcess[] = [];

function startProber(): ChildProcess {
  const prober = fork(fileURLToPath(new URL("health-prober.ts", import.meta.url)), { execArgv: [] });
  prober.unref();
  prober.channel?.unref();
  return prober;
}

/**
 * Asks `/healthz` over and over until told to stop, from a process of its own: a test that is busy abusing would
 * measure itself.
 *
 * @param probesMin fewer than 20 say nothing about the worst time
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

/** All that the server may have in memory under attack: a quarter more than in a million ordinary requests (docs/measured.md: 200 MB). */
const serverMaxBytes = 250e6;

/** V8 keeps for a while what one file after another took of the service that they share. */
export const sharedMaxBytes = 400e6;

/**
 * Nobody else notices: every probe was answered with 200, within 100 ms, which the contract promises under overload, and the server in all
 * kept to its memory.
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

/** The quantile of times in any order. */
export function quantileOf(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
