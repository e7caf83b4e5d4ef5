import { LRUCache } from "lru-cache";
import type { AnswerCache } from "../ports.ts";

interface MemoryCacheOptions {
  /** The maximum size of all keys and values together. If 0, nothing is cached. */
  readonly bytes: number;
}

/**
 * 2,800 search results took 6.5 bytes for each character of their JSON. The estimate is twice as high, because evicted values
 * stay in memory until they are collected as garbage.
 */
const bytesPerCharacter = 14;
/** The memory of an entry in addition to its key and value. */
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
