import { getHeapStatistics } from "node:v8";
import { now } from "../time/time.ts";

/** Measures the heap again after this number of milliseconds. A measurement takes 2 µs. */
const measureEveryMs = 10;

/**
 * The heap is nearly full if more than this share of its limit is in use. V8 collects garbage at the latest when the heap has
 * grown half of the way from the bytes that were alive to its limit. So garbage alone does not reach this share: with 350 of 562
 * MB alive, at most 423 MB were in use.
 */
const fullShare = 0.8;

interface HeapUse {
  readonly used_heap_size: number;
  readonly heap_size_limit: number;
}

/** Returns a function that tells if the heap is nearly full, so that new work must be refused: a full heap ends the process. */
export function createHeapCheck(measure: () => HeapUse = getHeapStatistics, clock = now): () => boolean {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let isFull = false;
  return () => {
    if (clock() - measuredAt >= measureEveryMs) {
      const { used_heap_size: used, heap_size_limit: limit } = measure();
      isFull = used > fullShare * limit;
      measuredAt = clock();
    }
    return isFull;
  };
}
