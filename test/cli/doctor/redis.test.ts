import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { checkRedis } from "../../../src/cli/doctor/redis.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { freePort } from "../../support/free-port.ts";
import { describeWith } from "../../support/needs.ts";
import { useRedis } from "../../support/redis.ts";
import { runKibitz } from "../run-kibitz.ts";

const checkWith = (env: Readonly<Record<string, string>>) => Array.fromAsync(checkRedis(loadConfig(env)));
const troublesIn = (findings: readonly Finding[]) =>
  findings.filter(({ state }) => state !== "good").map(({ state, found }) => `${state}: ${found}`);

test("kibitz doctor does not look for a Redis that no setting names", async () => {
  expect(await checkWith({})).toEqual([]);
});

test("kibitz doctor reports a Redis that does not answer, and the cost of that", async () => {
  const port = await freePort();
  const [finding, ...more] = await checkWith({ KIBITZ_REDIS_URL: `redis://127.0.0.1:${port}` });
  expect(finding).toMatchObject({ state: "bad", found: expect.stringContaining("ECONNREFUSED") });
  expect(finding?.advice).toContain("Start it");
  expect(more).toEqual([]);
});

describeWith("redis")("a Redis that answers", () => {
  const redis = useRedis();
  const check = (env: Readonly<Record<string, string>> = {}) =>
    checkWith({ KIBITZ_REDIS_URL: redis.url, ...env });
  const operate = (...words: readonly string[]) =>
    execFileSync("redis-cli", ["-p", String(redis.port), ...words], { stdio: "pipe" });
  /** Until the end of the test. */
  function set(name: string, value: string, usual: string): void {
    operate("config", "set", name, value);
    onTestFinished(() => void operate("config", "set", name, usual));
  }

  test("kibitz doctor reports a Redis that takes writes and evicts no keys as good, with its version", async () => {
    expect(await check()).toEqual([
      {
        part: "redis",
        state: "good",
        found: expect.stringMatching(/^127\.0\.0\.1:\d+ answers and takes writes \(version \d+\.\d+\.\d+\)$/),
      },
      { part: "redis", state: "good", found: "maxmemory-policy noeviction evicts no API keys" },
    ]);
  });

  test.each([
    [
      "may evict keys",
      "maxmemory-policy",
      "allkeys-lru",
      "noeviction",
      /^bad: .* allkeys-lru may evict API keys/,
    ],
    ["is full", "maxmemory", "1", "0", /^bad: .* does not take writes: OOM/],
    ["lacks replicas", "min-replicas-to-write", "1", "0", /^bad: .* does not take writes: NOREPLICAS/],
  ])("kibitz doctor reports a Redis that %s, and the way out", async (_, name, value, usual, trouble) => {
    set(name, value, usual);
    const findings = await check();
    expect(troublesIn(findings)[0]).toMatch(trouble);
    for (const { state, advice } of findings) {
      expect(advice === undefined).toBe(state === "good");
    }
  });

  test("kibitz doctor reports that the keys in Redis were made with another pepper", async () => {
    const prefix = { KIBITZ_REDIS_PREFIX: "peppered:" };
    const env = {
      KIBITZ_REDIS_URL: redis.url,
      ...prefix,
      KIBITZ_KEY_PEPPER: "a pepper of sixteen characters",
    };
    expect(await runKibitz(["keys", "create"], env)).toMatchObject({ code: 0 });
    expect(troublesIn(await check(prefix))).toEqual([
      expect.stringMatching(/^bad: the keys in redis:.* were made with a pepper, and none is set/),
    ]);
    expect(troublesIn(await checkWith(env))).toEqual([]);
  });

  test("kibitz doctor reports that a replica, or a Redis with another password, would end the start", async () => {
    operate("replicaof", "127.0.0.1", "1");
    onTestFinished(() => void operate("replicaof", "no", "one"));
    expect(troublesIn(await check())).toEqual([expect.stringMatching(/^bad: .*READONLY/)]);
    const withPassword = { KIBITZ_REDIS_URL: redis.url.replace("//", "//:wrong%20one@") };
    const findings = await checkWith(withPassword);
    expect(troublesIn(findings)).toHaveLength(1);
    expect(JSON.stringify(findings)).not.toMatch(/wrong( |%20)one/);
  });
});
