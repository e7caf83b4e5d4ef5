import { LRUCache } from "lru-cache";
import type { AnalysisCache } from "../ports.ts";
import { createTextRing } from "./text-ring.ts";

export interface MemoryCacheOptions {
  /** Of all that is kept: keys, values, and what it takes to find them. 0 keeps nothing. */
  readonly bytes: number;
}

/** So much of the room is for values that have been asked for, ready to be given again. */
const readyShare = 3 / 8;
/**
 * Bytes of a ready value for each character of its text: objects, and what its readers keep beside it as long as it
 * lives, messages and what was written of them. Measured: 8 to 10.
 */
const bytesPerCharacter = 10;
/** Bytes that each ready value takes besides: its place in the cache. */
const entryBytes = 256;

/**
 * A cache in this process, of values that are plain data. Most are never asked for again and are kept as texts, a
 * tenth of the size of objects; those that were asked for are ready, and go back among the texts when others are asked
 * for instead. So what was not asked for longest goes first.
 */
export function createMemoryCache<T extends object>({ bytes }: MemoryCacheOptions): AnalysisCache<T> {
  if (bytes === 0) {
    return { get: () => undefined, set() {} };
  }
  const texts = createTextRing(Math.floor(bytes * (1 - readyShare)));
  const ready = new LRUCache<string, Ready<T>>({
    maxSize: Math.floor(bytes * readyShare),
    sizeCalculation: ({ characters }, key) => entryBytes + key.length + characters * bytesPerCharacter,
    dispose({ value }, key, reason) {
      if (reason === "evict" && !texts.isYoung(key)) {
        texts.set(key, JSON.stringify(value));
      }
    },
  });
  return {
    get(key) {
      const known = ready.get(key);
      if (known) {
        return known.value;
      }
      const text = texts.get(key);
      if (text === undefined) {
        return undefined;
      }
      const value: T = JSON.parse(text);
      ready.set(key, { value, characters: text.length });
      return value;
    },
    set(key, value) {
      ready.delete(key);
      texts.set(key, JSON.stringify(value));
    },
  };
}

/** A value, and how many characters its text has. */
interface Ready<T> {
  readonly value: T;
  readonly characters: number;
}
