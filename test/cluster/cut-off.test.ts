import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startHaproxy, startRedis } from "../../tools/cluster/companions.ts";
import { freePort } from "../support/free-port.ts";
import { msUntil } from "../support/ms-until.ts";
import { describeWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { grpcCaller, isStarved, jsonCaller, startTraffic, type Traffic } from "./traffic.ts";

/**
 * One of three nodes in a network of its own, with a cable to the balancer and one to Redis. What is sent over a cable that
 * is cut is lost without a word, as between machines.
 */
describeWith(
  "haproxy",
  "redis",
  "namespaces",
  "root",
)("a node that is cut off", () => {
  const namespace = `kibitz-${process.pid}`;
  const ip = (...args: readonly string[]) => execFileSync("ip", args, { stdio: "pipe" });
  const inside = (...args: readonly string[]) => ip("-n", namespace, ...args);
  const cables = { balancer: 1, redis: 2 } as const;
  type Cable = keyof typeof cables;
  const near = (cable: Cable) => `10.213.${cables[cable]}.1`;
  const far = (cable: Cable) => `10.213.${cables[cable]}.2`;
  const cut = (cable: Cable) => inside("route", "add", "blackhole", `${near(cable)}/32`);
  const mend = (cable: Cable) => inside("route", "del", "blackhole", `${near(cable)}/32`);

  const folders = [useTemporaryFolder(), useTemporaryFolder(), useTemporaryFolder()] as const;
  const started = new AsyncDisposableStack();
  let url = "";
  let away: Server;

  beforeAll(async () => {
    ip("netns", "add", namespace);
    started.defer(() => void ip("netns", "del", namespace));
    for (const [cable, number] of Object.entries(cables) as [Cable, number][]) {
      const end = `kbz${process.pid % 100_000}-${number}`;
      ip("link", "add", end, "type", "veth", "peer", "name", `cable${number}`, "netns", namespace);
      ip("addr", "add", `${near(cable)}/30`, "dev", end);
      ip("link", "set", end, "up");
      inside("addr", "add", `${far(cable)}/30`, "dev", `cable${number}`);
      inside("link", "set", `cable${number}`, "up");
    }
    inside("link", "set", "lo", "up");
    const redisPort = await freePort();
    started.use(await startRedis(redisPort, near("redis")));
    const settings = {
      ...quickestSettings,
      PATH: process.env.PATH,
      KIBITZ_SLOTS: "1",
      KIBITZ_CACHE_MB: "0",
      KIBITZ_REDIS_URL: `redis://${near("redis")}:${redisPort}`,
    };
    const start = async (KIBITZ_DATA_DIR: string, where = {}, through: readonly string[] = []) => {
      const server = await startServer({ ...settings, KIBITZ_DATA_DIR, ...where }, { through });
      started.defer(async () => void (await server.stop()));
      return server;
    };
    const [first, second, third] = await Promise.all([
      start(folders[0]),
      start(folders[1]),
      start(folders[2], { KIBITZ_HOST: far("balancer") }, ["ip", "netns", "exec", namespace]),
    ]);
    away = third;
    const bind = `127.0.0.1:${await freePort()}`;
    const hostOf = (server: Server) => new URL(server.url).host;
    started.use(await startHaproxy({ nodes: [hostOf(first), hostOf(second), hostOf(third)], bind }));
    url = `http://${bind}`;
  });
  afterAll(() => started.disposeAsync());

  const medianOf = (times: readonly number[]) =>
    times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

  async function underLoad(happen: (traffic: Traffic) => Promise<void>) {
    using grpc = grpcCaller(url);
    const callers = [...Array.from({ length: 5 }, () => jsonCaller(url)), grpc, grpc];
    const traffic = startTraffic(callers, 8, 0, isStarved);
    await vi.waitFor(() => expect(traffic.counts.calls).toBeGreaterThan(20), 60_000);
    await happen(traffic);
    await traffic.stop();
    // The machine's matter as long as they are few.
    expect(traffic.counts.starved).toBeLessThan(traffic.counts.calls / 10);
    return traffic;
  }

  test("from the balancer: its calls are asked again elsewhere within ten seconds, and none fails", async () => {
    const { failures, tookMs } = await underLoad(async ({ counts }) => {
      cut("balancer");
      await sleep(8000);
      mend("balancer");
      await sleep(1500);
      await vi.waitFor(() => expect(counts.calls).toBeGreaterThan(100), 60_000);
    });
    expect(failures).toEqual([]);
    const slowestMs = Math.max(...tookMs);
    // There was a call on it.
    expect(slowestMs).toBeGreaterThan(2000);
    // Beside what any call takes of this machine.
    expect(slowestMs - medianOf(tookMs)).toBeLessThan(10_000);
  });

  test("from Redis: no call fails or waits for it, and it stays ready, says so, and recovers within five seconds", async () => {
    const readiness = async () => {
      const answer = await fetch(`${away.url}/readyz`);
      return [answer.status, await answer.json()];
    };
    const degraded = [200, { status: "ready", degraded: ["store"] }];
    const well = [200, { status: "ready" }];
    let backMs = 0;
    let tookBeforeMs: readonly number[] = [];
    const { failures, tookMs } = await underLoad(async (traffic) => {
      expect(await readiness()).toEqual(well);
      tookBeforeMs = [...traffic.tookMs];
      cut("redis");
      await vi.waitFor(async () => expect(await readiness()).toEqual(degraded), 20_000);
      await sleep(5000);
      expect(await readiness()).toEqual(degraded);
      mend("redis");
      backMs = await msUntil(async () => isDeepStrictEqual(await readiness(), well));
    });
    expect(failures).toEqual([]);
    expect(backMs).toBeLessThan(5000);
    const [beforeMs, afterMs] = [tookBeforeMs, tookMs.slice(tookBeforeMs.length)];
    // Beside what any call takes of this machine.
    expect(Math.max(...afterMs) - medianOf(beforeMs)).toBeLessThan(5000);
    expect(medianOf(afterMs)).toBeLessThan(3 * Math.max(100, ...beforeMs));
  });
});
