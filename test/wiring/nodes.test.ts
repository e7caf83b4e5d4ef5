import { expect, test } from "vitest";
import { loadConfig } from "../../src/wiring/config.ts";
import { joinOthers } from "../../src/wiring/nodes.ts";
import { describeWith } from "../support/needs.ts";
import { useConnections, useRedis } from "../support/redis.ts";

describeWith("redis")("the log about Redis settings", () => {
  const connect = useConnections(useRedis());

  test.each([
    [
      "evicts anything",
      "allkeys-lru",
      [
        "warn: Redis may evict API keys (maxmemory-policy allkeys-lru), and a key that it evicts is lost: set noeviction or volatile-lru",
      ],
    ],
    [
      "evicts what has a lifetime",
      "volatile-lru",
      [
        "info: Redis may evict what has a lifetime (maxmemory-policy volatile-lru): counters of limits and shared answers, but no API keys",
      ],
    ],
    [
      "evicts what ends soonest",
      "volatile-ttl",
      [
        "warn: Redis may evict what ends soonest (maxmemory-policy volatile-ttl): limits of callers, long before the answers that nobody asks for. Set volatile-lru",
      ],
    ],
    ["evicts nothing", "noeviction", []],
  ])("the log explains the consequences if Redis %s", async (_, policy, expected) => {
    const redis = await connect(undefined, { operationMaxMs: 10_000, connectMaxMs: 10_000 });
    await redis.ask("CONFIG", [], ["SET", "maxmemory-policy", policy]);
    const logged: string[] = [];
    const log = {
      info: (_: object, message: string) => void logged.push(`info: ${message}`),
      warn: (_: object, message: string) => void logged.push(`warn: ${message}`),
    };
    await using _joined = joinOthers(redis, loadConfig({}), log);
    // Redis answers in order, so earlier commands are already answered.
    await redis.ask("PING", []);
    await Promise.resolve();
    expect(logged).toEqual(expected);
  });
});
