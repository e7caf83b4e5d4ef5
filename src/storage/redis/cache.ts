import { hash } from "node:crypto";
import type { SharedAnswers } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import type { Redis } from "./connection.ts";

interface RedisCacheOptions<T> {
  /** The approximate size in Redis's memory, if answers have the average size. 0: the cache keeps nothing. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
}

/** One line at depth 14 takes 1100 bytes in Redis with its key and overhead, and answers with more lines take more. */
const bytesPerAnswer = 1600;
/** Longer texts are not kept. The text of ten lines at depth 30 is half as long. */
const charactersMax = 32_768;
const dayMs = 86_400_000;

/**
 * The cache has a fixed number of places, like an engine's hash table, which bounds the memory without a list of answers. The
 * hash of a key selects its place, and a new answer replaces the old one. A place stores the hash, so another key is a miss.
 */
export function createRedisCache<T>(redis: Redis, { bytes, format }: RedisCacheOptions<T>): SharedAnswers<T> {
  const places = Math.floor(bytes / bytesPerAnswer);
  if (places === 0) {
    return { get: async () => undefined, set() {} };
  }

  function placeOf(key: string): { readonly name: string; readonly place: string } {
    const name = nameOf(key, format);
    return { name, place: `answer:${Number.parseInt(name.slice(0, 12), 16) % places}` };
  }

  return {
    async get(key) {
      const { name, place } = placeOf(key);
      const text = await redis.askBriefly("GET", [place]);
      return typeof text === "string" && text.startsWith(name)
        ? valueFrom(text.slice(name.length), format)
        : undefined;
    },
    set(key, value) {
      const text = JSON.stringify(value);
      if (text.length <= charactersMax) {
        const { name, place } = placeOf(key);
        void redis.askBriefly("SET", [place], [name + text, "PX", dayMs]);
      }
    },
  };
}

/** Returns the name of a key or a search in Redis. Each version of the format has its own names. */
export function nameOf(key: string, { version }: Pick<ValueFormat<unknown>, "version">): string {
  return hash("sha256", `${version}|${key}`, "hex").slice(0, 40);
}

export function valueFrom<T>(text: string, { read }: Pick<ValueFormat<T>, "read">): T | undefined {
  try {
    return read(JSON.parse(text));
  } catch {
    return undefined;
  }
}
