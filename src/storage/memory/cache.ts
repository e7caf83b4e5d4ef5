import { LRUCache } from "lru-cache";
import type { AnswerCache } from "../ports.ts";

interface MemoryCacheOptions {
  /** The maximum size of all keys and values. 0: the cache keeps nothing. */
  readonly bytes: number;
}

/** The results of 2,800 searches took 6.5 bytes for each; evicted values stay a while, so the estimate is twice as high. */
const bytesPerCharacter = 14;
/** Each entry takes these bytes in addition to its key and value. */
const entryBytes = 256;
/** A value that would take a larger share of the cache is not kept. */
const entryMaxShare = 1 / 16;

/** Least recently used values are evicted first. */
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
