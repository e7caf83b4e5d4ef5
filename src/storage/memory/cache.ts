import { LRUCache } from "lru-cache";
import type { AnswerCache } from "../ports.ts";

interface MemoryCacheOptions {
  /** The maximum size of all keys and values. If 0, nothing is cached. */
  readonly bytes: number;
}

/**
 * A character of JSON uses 6.5 bytes (measured). The rest is for evicted values that the garbage collector has not freed yet.
 */
const bytesPerCharacter = 14;
/** The memory of an entry, without the key and the value. */
const entryBytes = 256;
/** The maximum size of a cached value, as a fraction of the cache size. */
const entryMaxShare = 1 / 16;

/** Evicts the least recently used values first. */
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
