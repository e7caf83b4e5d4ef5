import { hash } from "node:crypto";
import type { SharedAnswers } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import type { Redis } from "./connection.ts";

interface RedisCacheOptions<T> {
  /** Approximate bytes of Redis's memory, by the average size of an answer. 0 keeps nothing. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
}

/** The average size of an answer in Redis, with its key and the overhead: measured, see docs/running.md. */
const bytesPerAnswer = 1600;
/** Longer texts are not kept: ten lines of depth 30 have half as many characters. */
const charactersMax = 32_768;
const dayMs = 86_400_000;

/**
 * Answers that all nodes know. Like an engine's hash table, the cache has a fixed number of places. The hash of a key selects the
 * place, and a new answer replaces the one that was there. So the memory is bounded without a list of answers, and each step is one
 * command. A place also holds the hash of its key, so another key of the same place is a miss.
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

/** The name of a key or of a search in Redis, in hexadecimal. Other versions of the format have other names. */
export function nameOf(key: string, { version }: Pick<ValueFormat<unknown>, "version">): string {
  return hash("sha256", `${version}|${key}`, "hex").slice(0, 40);
}

/** Undefined if the text is no such value. */
export function valueFrom<T>(text: string, { read }: Pick<ValueFormat<T>, "read">): T | undefined {
  try {
    return read(JSON.parse(text));
  } catch {
    return undefined;
  }
}
