import { hash } from "node:crypto";
import type { SharedAnswers } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import type { Redis } from "./connection.ts";

interface RedisCacheOptions<T> {
  /** The approximate memory of the cached answers in Redis. If 0, nothing is cached. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
}

/** A result with one line at depth 14 uses 1100 bytes in Redis. Results with more lines use more. */
const bytesPerAnswer = 1600;
/** An answer with a longer JSON text is not cached. A result with ten lines at depth 30 has half as many characters. */
const charactersMax = 32_768;
const dayMs = 86_400_000;

/**
 * Limits the memory by a fixed number of Redis keys, like the hash table of an engine: a new answer overwrites an old answer
 * with the same Redis key. The stored text begins with the full hash, so that a read of another answer is a miss.
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
      const text = await redis.boundedCall("GET", [place]);
      return typeof text === "string" && text.startsWith(name)
        ? valueFrom(text.slice(name.length), format)
        : undefined;
    },
    set(key, value) {
      const text = JSON.stringify(value);
      if (text.length <= charactersMax) {
        const { name, place } = placeOf(key);
        void redis.boundedCall("SET", [place], [name + text, "PX", dayMs]);
      }
    },
  };
}

/** Returns a hash of the key and the version of the format. */
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
