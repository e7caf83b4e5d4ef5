import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startHaproxy, startRedis } from "../../tools/cluster/companions.ts";
import { freePort } from "../support/free-port.ts";
import { describeWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { grpcCaller, jsonCaller, startTraffic } from "./traffic.ts";

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

  async function underLoad(happen: () => Promise<void>) {
    using grpc = grpcCaller(url);
    const callers = [...Array.from({ length: 5 }, () => jsonCaller(url)), grpc, grpc];
    const traffic = startTraffic(callers, 8);
    await vi.waitFor(() => expect(traffic.counts.calls).toBeGreaterThan(20), 10_000);
    await happen();
    await traffic.stop();
    return traffic;
  }

  test("from the balancer: its calls are asked again elsewhere within ten seconds, and none fails", async () => {
    const { failures, tookMs, counts } = await underLoad(async () => {
      cut("balancer");
      await sleep(8000);
      mend("balancer");
      await sleep(1500);
    });
    expect(failures).toEqual([]);
    expect(counts.calls).toBeGreaterThan(100);
    const slowestMs = Math.max(...tookMs);
    // There was a call on it.
    expect(slowestMs).toBeGreaterThan(2000);
    expect(slowestMs).toBeLessThan(10_000);
  });

  test("from Redis: no call fails or waits for it, and it stays ready, says so, and recovers within five seconds", async () => {
    const readiness = async () => {
      const answer = await fetch(`${away.url}/readyz`);
      return [answer.status, await answer.json()];
    };
    const degraded = [200, { status: "ready", degraded: ["store"] }];
    const { failures, tookMs } = await underLoad(async () => {
      expect(await readiness()).toEqual([200, { status: "ready" }]);
      cut("redis");
      await vi.waitFor(async () => expect(await readiness()).toEqual(degraded), { timeout: 3000 });
      await sleep(5000);
      expect(await readiness()).toEqual(degraded);
      mend("redis");
      const well = [200, { status: "ready" }];
      await vi.waitFor(async () => expect(await readiness()).toEqual(well), { timeout: 5000 });
    });
    expect(failures).toEqual([]);
    expect(Math.max(...tookMs)).toBeLessThan(5000);
  });
});
