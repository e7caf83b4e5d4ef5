import { setTimeout as sleep } from "node:timers/promises";
import { cpuTimesOf, rssMib } from "../vital-signs.ts";
import type { Loaded } from "./loaded.ts";
import type { Turn } from "./statistics.ts";

/** Who takes turns. */
export interface Runner {
  readonly name: string;
  /** Of the server whose processor time and memory are told. */
  readonly pid: number | undefined;
  load(round: number): Promise<Loaded>;
}

export interface Measured {
  readonly name: string;
  /** One for each round. */
  readonly turns: readonly Turn[];
}

/**
 * In turns by round, A B C and then C B A: what the machine does meanwhile must favour nobody. Each begins when nobody has
 * anything to do: who does not notice that its callers have left searches on for them, and would take the cores of the next.
 */
export async function takeTurns(runners: readonly Runner[], rounds: number): Promise<readonly Measured[]> {
  const turns = new Map(runners.map(({ name }): [string, Turn[]] => [name, []]));
  const pids = runners.flatMap(({ pid }) => pid ?? []);
  for (let round = 0; round < rounds; round++) {
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
      await Promise.all(pids.map(untilIdle));
      turns.get(runner.name)?.push(await measure(runner.pid, () => runner.load(round)));
    }
  }
  return [...turns].map(([name, each]) => ({ name, turns: each }));
}

/** One turn, begun when the server has nothing to do. */
export async function measure(pid: number | undefined, load: () => Promise<Loaded>): Promise<Turn> {
  if (pid === undefined) {
    return { ...(await load()), serverUs: undefined, enginesUs: undefined, rssMib: undefined };
  }
  await untilIdle(pid);
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

/** One look may come while the machine gives it nothing. */
const quietLooks = 3;

/** What was asked and is answered to nobody any more, since the load has ended, may be searched for a while. */
async function untilIdle(pid: number): Promise<void> {
  const busyMs = () => {
    const { ownMs, startedMs } = cpuTimesOf(pid);
    return ownMs + startedMs;
  };
  for (let before = busyMs(), quiet = 0; quiet < quietLooks; ) {
    await sleep(100);
    const now = busyMs();
    quiet = now - before <= 10 ? quiet + 1 : 0;
    before = now;
  }
}
