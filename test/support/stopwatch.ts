import { readFileSync } from "node:fs";

/**
 * Starts to measure elapsed time without the time that the machine kept these processes waiting for a core, so that a busy
 * neighbour does not count and a thread that blocks on a lock or a disk does. Linux counts the wait of each thread in nanoseconds
 * (schedstat, second field). Only the first thread of each process is read. Name only processes that work one after another on
 * the way of the measured answer, because the sum of their waits is subtracted.
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
 * Starts to measure the time that the first thread of a process sleeps: elapsed time without the time in which the thread runs or
 * is ready to run. For promises about waiting (for an unreachable server, say), which a slow machine cannot break.
 * @returns a function that returns the milliseconds since the start
 */
export function startSleepStopwatch(pid: number = process.pid): () => number {
  const elapsedMs = startStopwatch(pid);
  const workedBefore = workedMs(pid);
  return () => Math.max(0, elapsedMs() - (workedMs(pid) - workedBefore));
}

/** Returns the milliseconds for which the first thread of a process has been ready to run without a core. */
const waitedMs = (pid: number) => schedulerTime(pid, 1);

/** Returns the milliseconds for which the first thread of a process has run. */
const workedMs = (pid: number) => schedulerTime(pid, 0);

/** Returns a field of a thread's schedstat in milliseconds. */
function schedulerTime(pid: number, field: 0 | 1): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[field]) / 1e6;
}

export interface Times {
  readonly medianMs: number;
  readonly worstMs: number;
  /** All measured times, in ascending order. */
  readonly all: readonly number[];
}

/**
 * Repeats a measurement at least 20 times; `measure` returns milliseconds.
 * @param atATime the number of concurrent measurements. More than one only if they mostly wait, because they compete for the
 * processor.
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
