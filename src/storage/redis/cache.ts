import { hash } from "node:crypto";
import type { SharedAnswers } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import type { Redis } from "./connection.ts";

interface RedisCacheOptions<T> {
  /** The approximate size in Redis's memory, in bytes, if answers have the average size. 0: the cache keeps nothing. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
}

/**
 * The average size of an answer in Redis with its key and overhead, in bytes. One line at depth 14 takes 1100 bytes, and answers
 * with more lines take more.
 */
const bytesPerAnswer = 1600;
/**
 * The maximum length of an answer's text, in characters. Longer texts are not kept. The text of ten lines at depth 30 is half as
 * long.
 */
const charactersMax = 32_768;
const dayMs = 86_400_000;

/**
 * Creates a cache of answers that all nodes share. Like an engine's hash table, it has a fixed number of places. The hash of a
 * key selects the place, and a new answer replaces the old answer there. This bounds the memory without a list of answers, and
 * each read or write is one command. A place also stores the hash of its key, so a different key with the same place is a miss.
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

/** Returns the name of a key or a search in Redis, in hexadecimal. Each version of the format has its own names. */
export function nameOf(key: string, { version }: Pick<ValueFormat<unknown>, "version">): string {
  return hash("sha256", `${version}|${key}`, "hex").slice(0, 40);
}

/** Returns the value in a text, or undefined if the text is not such a value. */
export function valueFrom<T>(text: string, { read }: Pick<ValueFormat<T>, "read">): T | undefined {
  try {
    return read(JSON.parse(text));
  } catch {
    return undefined;
  }
}
