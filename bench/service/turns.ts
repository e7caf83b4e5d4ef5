import { setTimeout as sleep } from "node:timers/promises";
import { cpuTimesOf, rssMib } from "../vital-signs.ts";
import type { Loaded } from "./loaded.ts";
import type { Turn } from "./statistics.ts";

export interface Runner {
  readonly name: string;
  readonly pid: number;
  load(round: number): Promise<Loaded>;
}

export interface Measured {
  readonly name: string;
  readonly turns: readonly Turn[];
}

/**
 * Before each measurement, waits until all servers are idle, because a server can continue a search after its client
 * has disconnected.
 */
export async function takeTurns(runners: readonly Runner[], rounds: number): Promise<readonly Measured[]> {
  const turns = new Map(runners.map(({ name }): [string, Turn[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
      await Promise.all(runners.map(({ pid }) => untilIdle(pid)));
      turns.get(runner.name)?.push(await measure(runner.pid, () => runner.load(round)));
    }
  }
  return [...turns].map(([name, each]) => ({ name, turns: each }));
}

async function measure(pid: number, load: () => Promise<Loaded>): Promise<Turn> {
  const before = cpuTimesOf(pid);
  const loaded = await load();
  const after = cpuTimesOf(pid);
  const each = (ms: number) => (ms * 1000) / loaded.requests;
  return {
    ...loaded,
    serverUs: each(after.ownMs - before.ownMs),
    enginesUs: each(after.startedMs - before.startedMs),
    rssMib: rssMib(pid),
  };
}

/** After this number of samples without processor time, a server is idle. One sample is not enough on a busy machine. */
const idleSamples = 3;

async function untilIdle(pid: number): Promise<void> {
  const busyMs = () => {
    const { ownMs, startedMs } = cpuTimesOf(pid);
    return ownMs + startedMs;
  };
  for (let before = busyMs(), quiet = 0; quiet < idleSamples; ) {
    await sleep(100);
    const now = busyMs();
    quiet = now - before <= 10 ? quiet + 1 : 0;
    before = now;
  }
}
