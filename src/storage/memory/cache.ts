import { LRUCache } from "lru-cache";
import type { AnalysisCache } from "../ports.ts";

export interface MemoryCacheOptions<T> {
  /** Weight of all that is kept: the number of values where each weighs 1. 0 keeps nothing. */
  readonly entries: number;
  /** How many plain values this one stands for, at least 1: so that large ones do not burst the memory. Long keys add to it. */
  readonly weightOf?: (value: T) => number;
}

/** The key of a position with a long history takes as much room as what is kept under it. */
const charsOfOne = 1500;

/** A cache in this process. What was not asked for longest goes first. */
export function createMemoryCache<T extends object>({
  entries,
  weightOf = () => 1,
}: MemoryCacheOptions<T>): AnalysisCache<T> {
  if (entries === 0) {
    return { get: () => undefined, set() {} };
  }
  const sizeCalculation = (value: T, key: string) => weightOf(value) + Math.floor(key.length / charsOfOne);
  // By weight alone: `max` would reserve room for all entries at once.
  const kept = new LRUCache<string, T>({ maxSize: entries, sizeCalculation });
  return {
    get: (key) => kept.get(key),
    set(key, value) {
      kept.set(key, value);
    },
  };
}
