import { LRUCache } from "lru-cache";
import type { InstantCache } from "../ports.ts";

interface MemoryCacheOptions {
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
export function createMemoryCache<T extends object>({ bytes }: MemoryCacheOptions): InstantCache<T> {
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

/**
 * Texts by key in a fixed number of bytes, off V8's heap: a log that is written in a circle, so that the oldest text
 * is overwritten by the newest. Nothing is ever freed, so nothing is fragmented, and what is forgotten leaves no
 * garbage behind: the memory of a process that keeps texts on the heap is twice what it keeps.
 */
interface TextRing {
  get(key: string): string | undefined;
  /** Keeps a text as long as there is room. One that takes more than a sixteenth of it is not kept. */
  set(key: string, text: string): void;
  /** Whether less than half of all that is kept has been written since the text was. */
  isYoung(key: string): boolean;
}

/** Lengths of key and text, before them, in bytes: numbers of 32 bits. */
const headBytes = 8;
/** Texts with the same bucket: a fifth one takes the place of the oldest. */
const bucketSlots = 4;
/** Bytes for each slot of the index, at most. Answers are four times as long, so most of the slots stay free. */
const bytesPerSlot = 256;
/** Of an index slot, which holds a position. */
const slotBytes = Float64Array.BYTES_PER_ELEMENT;

/** @param bytes of everything, the index too. */
function createTextRing(bytes: number): TextRing {
  const buckets = powerOfTwoFrom(bytes / (bytesPerSlot * bucketSlots));
  const ringBytes = bytes - buckets * bucketSlots * slotBytes;
  // Pages that nobody has written yet take no memory.
  const ring = Buffer.allocUnsafeSlow(ringBytes);
  /** Positions in the endless log whose last `ringBytes` are kept; 0 is none. */
  const slots = new Float64Array(buckets * bucketSlots);
  // Nobody shall choose positions that push out those of others.
  const seed = Math.floor(Math.random() * 2 ** 32);
  let end = headBytes;

  /** The slots of the key's bucket. */
  function bucketOf(key: string): Float64Array {
    const first = (hashOf(key, seed) & (buckets - 1)) * bucketSlots;
    return slots.subarray(first, first + bucketSlots);
  }

  /** Whether nothing of what was written there is overwritten yet. */
  const isKept = (position: number) => position > 0 && position >= end - ringBytes;

  function keyAt(position: number): string {
    const at = position % ringBytes;
    const start = at + headBytes;
    return ring.toString("utf8", start, start + ring.readUInt32LE(at));
  }

  /** Which slot holds the key, if any. */
  function find(bucket: Float64Array, key: string): number {
    return bucket.findIndex((position) => isKept(position) && keyAt(position) === key);
  }

  return {
    get(key) {
      const bucket = bucketOf(key);
      const position = bucket[find(bucket, key)];
      if (position === undefined) {
        return undefined;
      }
      const at = position % ringBytes;
      const start = at + headBytes + ring.readUInt32LE(at);
      return ring.toString("utf8", start, start + ring.readUInt32LE(at + 4));
    },
    set(key, text) {
      const keyBytes = Buffer.byteLength(key);
      const textBytes = Buffer.byteLength(text);
      const size = headBytes + keyBytes + textBytes;
      if (size > ringBytes / 16) {
        return;
      }
      // In one piece: what does not fit at the end begins anew.
      const left = ringBytes - (end % ringBytes);
      const position = left < size ? end + left : end;
      const at = position % ringBytes;
      ring.writeUInt32LE(keyBytes, at);
      ring.writeUInt32LE(textBytes, at + 4);
      ring.write(key, at + headBytes, "utf8");
      ring.write(text, at + headBytes + keyBytes, "utf8");
      end = position + size;
      const bucket = bucketOf(key);
      const known = find(bucket, key);
      bucket[known < 0 ? bucket.indexOf(Math.min(...bucket)) : known] = position;
    },
    isYoung(key) {
      const bucket = bucketOf(key);
      const position = bucket[find(bucket, key)];
      return position !== undefined && position > end - ringBytes / 2;
    },
  };
}

function powerOfTwoFrom(least: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(least)));
}

/** FNV-1a, 32 bits, over UTF-16 units, and then mixed: the low bits must depend on all. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
