import { LRUCache } from "lru-cache";
import type { AnswerCache } from "../ports.ts";

interface MemoryCacheOptions {
  /** The maximum size of all keys and values, in bytes. 0: the cache keeps nothing. */
  readonly bytes: number;
}

/**
 * The estimated number of bytes in memory for each character of a value's JSON. The results of 2,800 searches took 6.5. Evicted
 * values stay in memory until the garbage collector has visited the whole heap, so the estimate is twice as high.
 */
const bytesPerCharacter = 14;
/** The number of bytes that each entry takes in addition to its key and value. */
const entryBytes = 256;
/** The largest share of the cache that one value may take. A larger value is not kept. */
const entryMaxShare = 1 / 16;

/** Creates a cache of plain data in this process. Least recently used values are evicted first. */
export function createMemoryCache<T extends object>({ bytes }: MemoryCacheOptions): AnswerCache<T> {
  if (bytes === 0) {
    return { get: () => undefined, set() {} };
  }
  const kept = new LRUCache<string, T>({
    maxSize: bytes,
    maxEntrySize: Math.max(1, Math.floor(bytes * entryMaxShare)),
    sizeCalculation: (value, key) =>
      entryBytes + key.length + JSON.stringify(value).length * bytesPerCharacter,
  });
  return {
    get: (key) => kept.get(key),
    set: (key, value) => void kept.set(key, value),
  };
}
