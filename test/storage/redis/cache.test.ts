import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { createRedisCache } from "../../../src/storage/redis/cache.ts";
import type { Redis } from "../../../src/storage/redis/connection.ts";
import { testCache } from "../../contract/store.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";

interface Value {
  readonly text: string;
  readonly numbers: readonly number[];
}
const isValue = (json: unknown): json is Value =>
  typeof json === "object" && json !== null && "text" in json && typeof json.text === "string";
const format = { version: 1, read: (json: unknown) => (isValue(json) ? json : undefined) };
/** Long timeouts, so that a busy machine is not mistaken for a slow Redis. */
const patient = { operationMaxMs: 10_000, connectMaxMs: 10_000, boundedCallMaxMs: 5000 };
const one: Value = { text: "one", numbers: [1] };

describeWith("redis")("answers in Redis", () => {
  const redis = useRedis();
  const connect = useConnections(redis);
  let shared: Redis;
  let caches = 0;
  beforeAll(async () => {
    shared = await connect("shared:", patient);
  });

  testCache("Redis", () =>
    // A new format version makes the cache empty.
    createRedisCache<Value>(shared, {
      bytes: 16e6,
      format: { ...format, version: ++caches },
    }),
  );

  const keysOf = async (of: Redis) => {
    const keys = await of.ask("KEYS", ["answer:*"]);
    return Array.isArray(keys) ? keys.map(String) : [];
  };

  test("nodes that use the same answer format share cached answers in Redis", async () => {
    const [here, there] = [await connect("nodes:", patient), await connect("nodes:", patient)];
    createRedisCache<Value>(here, { bytes: 1e6, format }).set("a", one);
    const [key = ""] = await until(
      () => keysOf(here),
      (keys) => keys.length > 0,
    );
    expect(await createRedisCache<Value>(there, { bytes: 1e6, format }).get("a")).toEqual(one);
    const other = createRedisCache<Value>(there, {
      bytes: 1e6,
      format: { ...format, version: 2 },
    });
    expect(await other.get("a")).toBeUndefined();
    // Every key has an expiry time.
    const lifetimeMs = Number(await here.ask("PTTL", [key.slice("nodes:".length)]));
    expect(lifetimeMs).toBeGreaterThan(86_300_000);
    expect(lifetimeMs).toBeLessThanOrEqual(86_400_000);
  });

  test("the number of cached answers in Redis is limited, and new answers replace old ones", async () => {
    const here = await connect(undefined, patient);
    const cache = createRedisCache<Value>(here, { bytes: 16_000, format });
    for (let index = 0; index < 100; index++) {
      cache.set(`key ${index}`, one);
    }
    expect(await cache.get("key 99")).toEqual(one);
    expect(await keysOf(here)).toHaveLength(10);
    const known = await Promise.all(Array.from({ length: 100 }, (_, index) => cache.get(`key ${index}`)));
    expect(known.filter(Boolean)).toHaveLength(10);
  });

  test.each([
    ["is not JSON", "{"],
    ["has an unexpected type", '{"text":5}'],
    ["is empty", ""],
  ])("a cached answer in Redis is ignored if its entry %s", async (_, text) => {
    const here = await connect(undefined, patient);
    const cache = createRedisCache<Value>(here, { bytes: 1600, format });
    cache.set("a", one);
    const [key = ""] = await until(
      () => keysOf(here),
      (keys) => keys.length > 0,
    );
    const place = key.slice(key.indexOf(":") + 1);
    const name = String(await here.ask("GET", [place])).slice(0, 40);
    await here.ask("SET", [place], [name + text]);
    expect(await cache.get("a")).toBeUndefined();
    await here.ask("SET", [place], [text]);
    expect(await cache.get("a")).toBeUndefined();
    await here.ask("DEL", [place]);
    await here.ask("RPUSH", [place], ["a list"]);
    expect(await cache.get("a")).toBeUndefined();
    expect(here.health.kind).toBe("up");
  });

  test("answers are not cached in Redis if they are long, or if the cache size is 0", async () => {
    const here = await connect(undefined, patient);
    createRedisCache<Value>(here, { bytes: 1e6, format }).set("a", {
      ...one,
      text: "x".repeat(40_000),
    });
    const none = createRedisCache<Value>(here, { bytes: 0, format });
    none.set("b", one);
    expect(await none.get("b")).toBeUndefined();
    expect(await keysOf(here)).toEqual([]);
  });

  test("if Redis is slow, cached answers are not used for a while, and requests do not wait for Redis", async () => {
    const here = await connect(undefined, { ...patient, boundedCallMaxMs: 50, pauseAfterTimeoutMs: 500 });
    const cache = createRedisCache<Value>(here, { bytes: 1e6, format });
    cache.set("a", one);
    expect(await cache.get("a")).toEqual(one);
    redis.pause();
    try {
      expect(await cache.get("a")).toBeUndefined();
      // The lookup must resolve before the next event loop iteration.
      const missed = Promise.all(Array.from({ length: 100 }, () => cache.get("a")));
      expect(await Promise.race([missed, nextTurn("not yet")])).toEqual(Array(100).fill(undefined));
    } finally {
      redis.resume();
    }
    await until(
      () => cache.get("a"),
      (value) => value !== undefined,
    );
  });
});
