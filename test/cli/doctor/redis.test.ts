import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { checkRedis } from "../../../src/cli/doctor/redis.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { freePort } from "../../support/free-port.ts";
import { describeWith } from "../../support/needs.ts";
import { useRedis } from "../../support/redis.ts";

const checkWith = (env: Readonly<Record<string, string>>) => Array.fromAsync(checkRedis(loadConfig(env)));

test("kibitz doctor reports nothing about Redis without KIBITZ_REDIS_URL", async () => {
  expect(await checkWith({})).toEqual([]);
});

test("if Redis does not respond, kibitz doctor reports Redis as bad, with advice", async () => {
  const port = await freePort();
  expect(await checkWith({ KIBITZ_REDIS_URL: `redis://127.0.0.1:${port}` })).toEqual([
    {
      part: "redis",
      state: "bad",
      found: expect.stringContaining("ECONNREFUSED"),
      advice: expect.stringContaining("Start Redis"),
    },
  ]);
});

describeWith("redis")("a Redis that responds", () => {
  const redis = useRedis();
  const operate = (...words: readonly string[]) =>
    execFileSync("redis-cli", ["-p", String(redis.port), ...words], { stdio: "pipe" });

  test("kibitz doctor reports a writable Redis without key eviction as good", async () => {
    expect(await checkWith({ KIBITZ_REDIS_URL: redis.url })).toEqual([
      {
        part: "redis",
        state: "good",
        found: expect.stringMatching(/^127\.0\.0\.1:\d+ answers and takes writes$/),
      },
    ]);
  });

  test.each([
    ["may evict keys", "maxmemory-policy", "allkeys-lru", "noeviction", /may evict API keys/],
    ["is full", "maxmemory", "1", "0", /does not take writes: OOM/],
    ["has too few replicas", "min-replicas-to-write", "1", "0", /does not take writes: NOREPLICAS/],
  ])(
    "if Redis %s, kibitz doctor reports Redis as bad, with advice",
    async (_, name, value, usual, trouble) => {
      operate("config", "set", name, value);
      onTestFinished(() => void operate("config", "set", name, usual));
      expect(await checkWith({ KIBITZ_REDIS_URL: redis.url })).toContainEqual({
        part: "redis",
        state: "bad",
        found: expect.stringMatching(trouble),
        advice: expect.any(String),
      });
    },
  );

  test("kibitz doctor reports Redis as bad if Redis is a replica, or if the password is wrong", async () => {
    operate("replicaof", "127.0.0.1", "1");
    onTestFinished(() => void operate("replicaof", "no", "one"));
    expect(await checkWith({ KIBITZ_REDIS_URL: redis.url })).toMatchObject([
      { state: "bad", found: expect.stringContaining("READONLY") },
    ]);
    const findings = await checkWith({ KIBITZ_REDIS_URL: redis.url.replace("//", "//:wrong%20one@") });
    expect(findings).toMatchObject([{ state: "bad" }]);
    expect(JSON.stringify(findings)).not.toMatch(/wrong( |%20)one/);
  });
});
