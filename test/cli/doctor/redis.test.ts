import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { lookAtRedis } from "../../../src/cli/doctor/redis.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { freePort } from "../../support/free-port.ts";
import { describeWith } from "../../support/needs.ts";
import { useRedis } from "../../support/redis.ts";
import { runKibitz } from "../run-kibitz.ts";

const lookWith = (env: Readonly<Record<string, string>>) => Array.fromAsync(lookAtRedis(loadConfig(env)));
/** But of the round trip: a machine that is busy has a note on it. */
const troublesIn = (findings: readonly Finding[]) =>
  findings
    .filter(({ state, found }) => state !== "good" && !found.includes(" answers within "))
    .map(({ state, found }) => `${state}: ${found}`);

test("kibitz doctor does not look for a Redis that no setting names", async () => {
  expect(await lookWith({})).toEqual([]);
});

test("kibitz doctor reports a Redis that does not answer, and the cost of that", async () => {
  const port = await freePort();
  const [finding, ...more] = await lookWith({ KIBITZ_REDIS_URL: `redis://127.0.0.1:${port}` });
  expect(finding).toMatchObject({ state: "bad", found: expect.stringContaining("ECONNREFUSED") });
  expect(finding?.advice).toContain("Start it");
  expect(more).toEqual([]);
});

describeWith("redis")("a Redis that is there", () => {
  const redis = useRedis(["--appendonly", "yes"]);
  const look = (env: Readonly<Record<string, string>> = {}) =>
    lookWith({ KIBITZ_REDIS_URL: redis.url, ...env });
  const operate = (...words: readonly string[]) =>
    execFileSync("redis-cli", ["-p", String(redis.port), ...words], { stdio: "pipe" });
  /** Until the end of the test. */
  function set(name: string, value: string, usual: string): void {
    operate("config", "set", name, value);
    onTestFinished(() => void operate("config", "set", name, usual));
  }

  test("kibitz doctor reports the version, round trip, memory and clock of Redis", async () => {
    const [roundTrip, ...findings] = await look();
    expect(troublesIn(findings)).toEqual([]);
    const told = [roundTrip, ...findings].map((finding) => finding?.found).join("\n");
    for (const what of [
      /^127\.0\.0\.1:\d+ answers within \d+\.\d ms$/m,
      /^Redis \d+\.\d+\.\d+$/m,
      /^takes writes/m,
      /^maxmemory-policy noeviction: nothing is evicted$/m,
      /^\d+\.\d MB of memory used, without a bound/m,
      /^keeps each write on its disk/m,
      /^its clock is 0\.\d s (ahead of|behind) this machine's$/m,
    ]) {
      expect(told).toMatch(what);
    }
    expect(findings.every(({ part, advice }) => part === "redis" && advice === undefined)).toBe(true);
  });

  test.each([
    [
      "evicts keys",
      "maxmemory-policy",
      "allkeys-lru",
      "noeviction",
      /^bad: maxmemory-policy allkeys-lru: API keys may/,
    ],
    ["is full", "maxmemory", "1", "0", /^bad: does not take writes: its memory is full/],
    ["has not the room that answers are given", "maxmemory", "60mb", "0", /^note: .* answers may take 64 MB/],
    ["forgets", "appendonly", "no", "yes", /^note: does not keep each write/],
    [
      "lacks replicas",
      "min-replicas-to-write",
      "1",
      "0",
      /^bad: does not take writes: it has too few replicas/,
    ],
  ])("kibitz doctor reports a Redis that %s, and the way out", async (_, name, value, usual, trouble) => {
    set(name, value, usual);
    const findings = await look();
    expect(troublesIn(findings)[0]).toMatch(trouble);
    for (const { state, advice } of findings) {
      expect(advice === undefined).toBe(state === "good");
    }
  });

  test("kibitz doctor reports that the keys in Redis were made with another pepper, and the way out", async () => {
    const prefix = { KIBITZ_REDIS_PREFIX: "peppered:" };
    const env = {
      KIBITZ_REDIS_URL: redis.url,
      ...prefix,
      KIBITZ_KEY_PEPPER: "a pepper of sixteen characters",
    };
    expect(await runKibitz(["keys", "create"], env)).toMatchObject({ code: 0 });
    expect(troublesIn((await look(prefix)).slice(1))).toEqual([
      expect.stringMatching(/^bad: the keys in redis:.* were made with a pepper, and none is set/),
    ]);
    expect(troublesIn((await lookWith(env)).slice(1))).toEqual([]);
  });

  test("kibitz doctor reports by how much the clock of Redis differs", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 90_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(troublesIn(await look())).toEqual([
      expect.stringMatching(/^note: its clock is (89|90)\.\d s ahead of/),
    ]);
  });

  test("kibitz doctor reports that a replica, or a Redis with another password, would end the start", async () => {
    operate("replicaof", "127.0.0.1", "1");
    onTestFinished(() => void operate("replicaof", "no", "one"));
    expect(troublesIn(await look())).toEqual([expect.stringMatching(/^bad: .*it is a replica/)]);
    const withPassword = { KIBITZ_REDIS_URL: redis.url.replace("//", "//:wrong%20one@") };
    const told = await lookWith(withPassword);
    expect(troublesIn(told)).toHaveLength(1);
    expect(JSON.stringify(told)).not.toMatch(/wrong( |%20)one/);
  });
});
