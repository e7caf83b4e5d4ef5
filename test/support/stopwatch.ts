import { readFileSync } from "node:fs";

/**
 * Measures elapsed time. Subtracts the time in which the main threads of the processes waited for a core (Linux schedstat,
 * second field), so other work on the machine does not change the result. The processes must work one after another, because
 * the sum of their waits is subtracted.
 * @returns a function that returns the milliseconds since the start
 */
export function startStopwatch(...pids: readonly number[]): () => number {
  const watched = pids.length > 0 ? pids : [process.pid];
  const waitedBefore = watched.map(waitedMs);
  const startedAt = performance.now();
  return () => {
    const elapsedMs = performance.now() - startedAt;
    const waited = watched.reduce((sum, pid, i) => sum + waitedMs(pid) - (waitedBefore[i] ?? 0), 0);
    return Math.max(0, elapsedMs - waited);
  };
}

/**
 * Measures the time in which the main thread of a process sleeps. A slow machine does not change this time.
 * @returns a function that returns the slept milliseconds since the start
 */
export function startSleepStopwatch(pid: number = process.pid): () => number {
  const elapsedMs = startStopwatch(pid);
  const workedBefore = workedMs(pid);
  return () => Math.max(0, elapsedMs() - (workedMs(pid) - workedBefore));
}

/** Returns the milliseconds in which the main thread of a process waited for a core. */
const waitedMs = (pid: number) => schedulerTime(pid, 1);

const workedMs = (pid: number) => schedulerTime(pid, 0);

function schedulerTime(pid: number, field: 0 | 1): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[field]) / 1e6;
}

export interface Times {
  readonly medianMs: number;
  readonly worstMs: number;
  readonly all: readonly number[];
}

/**
 * Repeats a measurement.
 * @param tries at least 20
 * @param measure returns milliseconds
 * @param atATime the number of concurrent measurements; must be 1 if a measurement uses much processor time
 */
export async function timesOf(
  tries: number,
  measure: (index: number) => Promise<number>,
  atATime = 1,
): Promise<Times> {
  if (tries < 20) {
    throw new RangeError(`${tries} tries say nothing about the worst time: measure at least 20`);
  }
  const all: number[] = [];
  let begun = 0;
  const inTurn = async () => {
    while (begun < tries) {
      all.push(await measure(begun++));
    }
  };
  await Promise.all(Array.from({ length: atATime }, inTurn));
  all.sort((a, b) => a - b);
  return { medianMs: all[Math.floor(tries / 2)] as number, worstMs: all.at(-1) as number, all };
}
