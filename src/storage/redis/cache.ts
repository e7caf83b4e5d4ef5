import { hash } from "node:crypto";
import type { AnalysisCache } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { type BriefRedis, createBriefRedis } from "./brief.ts";
import type { Redis } from "./connection.ts";

interface RedisCacheOptions<T> {
  /** Of Redis's memory, about: reckoned by what answers take on average. 0 keeps nothing. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
  /** Of every value, in milliseconds. */
  readonly lifetimeMs?: number;
  readonly brief?: BriefRedis;
}

/** What an answer takes in Redis on average, with its key and the rest: measured, see docs/running.md. */
const bytesPerAnswer = 1600;
/** Longer texts are not kept: ten lines of depth 30 have half as many characters. */
const charactersMax = 32_768;
const dayMs = 86_400_000;

/**
 * Values that all nodes know. There are so many places, and a value goes to the one that its key says, in the place of whatever
 * was there, as in an engine's hash table: so the memory has a bound without a list of what is kept, and every step is one
 * command. A value stands behind the hash of its key, so that another one in its place is none.
 */
export function createRedisCache<T>(
  redis: Redis,
  { bytes, format, lifetimeMs = dayMs, brief = createBriefRedis(redis) }: RedisCacheOptions<T>,
): AnalysisCache<T> {
  const places = Math.floor(bytes / bytesPerAnswer);
  if (places === 0) {
    return { get: () => undefined, set() {} };
  }

  function placeOf(key: string): { readonly name: string; readonly place: string } {
    const name = nameOf(key, format);
    return { name, place: `answer:${Number.parseInt(name.slice(0, 12), 16) % places}` };
  }

  return {
    async get(key) {
      const { name, place } = placeOf(key);
      const text = await brief.ask((maxMs) => redis.ask("GET", [place], [], maxMs));
      if (typeof text !== "string" || !text.startsWith(name)) {
        return undefined;
      }
      try {
        return format.read(JSON.parse(text.slice(name.length)));
      } catch {
        return undefined;
      }
    },
    set(key, value) {
      const text = JSON.stringify(value);
      if (text.length <= charactersMax) {
        const { name, place } = placeOf(key);
        // Nobody waits for it, so that it may take its time.
        void brief.ask(() => redis.ask("SET", [place], [name + text, "PX", lifetimeMs]));
      }
    },
  };
}

/** What a key, or a search, is called in Redis: other versions call it otherwise. Hexadecimal. */
export function nameOf(key: string, { version }: Pick<ValueFormat<unknown>, "version">): string {
  return hash("sha256", `${version}|${key}`, "hex").slice(0, 40);
}
