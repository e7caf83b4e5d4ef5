import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export async function collectedHeapBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  for (let at = 0; at < 4; at++) {
    collect();
    // Node cleans up after collected signals in a later event loop iteration.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
}

/**
 * Returns the bytes that one repetition leaves in V8's old space. More than a few hundred bytes mean a memory leak.
 * @param repeat repeats the measured work this number of times
 */
export async function oldBytesEach(repeat: (times: number) => Promise<void>): Promise<number> {
  const times = 1000;
  await repeat(times / 2);
  const rounds: number[] = [];
  for (let round = 0; round < 3; round++) {
    await collectedHeapBytes();
    const before = oldBytes();
    await repeat(times);
    rounds.push((oldBytes() - before) / times);
  }
  return Math.min(...rounds);
}

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space");
  return old?.space_used_size ?? 0;
}
