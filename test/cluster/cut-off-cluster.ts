import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll } from "vitest";
import { waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { startHaproxy } from "../../tools/cluster/companions.ts";
import { freePort } from "../support/free-port.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { startRedis } from "../support/start-redis.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

export const describeCutOff = describeWith("haproxy", "redis", "namespaces", "root");

type Cable = "balancer" | "redis";

/** Three nodes behind HAProxy. One node is in a separate network with two cables: one to HAProxy, and one to Redis. */
interface CutOffCluster {
  readonly url: string;
  /** The node with the separate network. */
  readonly away: Server;
  /** Discards all packets that the node sends over this cable from now on. */
  cut(cable: Cable): void;
  repair(cable: Cable): void;
  stateOfAway(): Promise<{ readonly now: number; readonly isUp: boolean }>;
}

/** Starts the cluster before the tests of a file. The nodes use fake engines. */
export function useCutOffCluster(): CutOffCluster {
  const namespace = `kibitz-${process.pid}`;
  const ip = (...args: readonly string[]) => execFileSync("ip", args, { stdio: "pipe" });
  const inside = (...args: readonly string[]) => ip("-n", namespace, ...args);
  const cables = { balancer: 1, redis: 2 } as const;
  const near = (cable: Cable) => `10.213.${cables[cable]}.1`;
  const far = (cable: Cable) => `10.213.${cables[cable]}.2`;

  const folders = [useTemporaryFolder(), useTemporaryFolder(), useTemporaryFolder()] as const;
  const plans = usePlansFile({
    id: "keyless",
    limits: { concurrent: 2000, rates: [rateOf("minute", 100_000, 60)] },
  });
  const started = new AsyncDisposableStack();
  let url = "";
  let away: Server | undefined;
  let balancerSocket = "";

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
    const redis = await startRedis(folders[0], ["--bind", near("redis"), "--protected-mode", "no"]);
    started.defer(() => redis.stop());
    const settings = {
      ...waitingEngineSettings(),
      PATH: process.env.PATH,
      // With limits, every call needs Redis.
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: plans,
      KIBITZ_SLOTS: "1",
      KIBITZ_QUEUE_MAX_WAIT_MS: "60000",
      KIBITZ_REDIS_URL: `redis://${near("redis")}:${redis.port}`,
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
    balancerSocket = join(folders[0], "haproxy");
    const hostOf = (server: Server) => new URL(server.url).host;
    const nodes = [hostOf(first), hostOf(second), hostOf(third)] as const;
    started.use(await startHaproxy({ nodes, bind, socket: balancerSocket }));
    url = `http://${bind}`;
  });
  afterAll(() => started.disposeAsync());

  return {
    get url() {
      return url;
    },
    get away() {
      if (away === undefined) {
        throw new Error("the cluster runs only while tests do");
      }
      return away;
    },
    cut: (cable) => void inside("route", "add", "blackhole", `${near(cable)}/32`),
    repair: (cable) => void inside("route", "del", "blackhole", `${near(cable)}/32`),
    async stateOfAway() {
      const socket = connect(balancerSocket);
      socket.end("show stat\n");
      const rows = (await text(socket)).split("\n").map((row) => row.split(","));
      const row = rows.find(([, server]) => server === "node3") ?? [];
      return { now: Number(row[4]), isUp: row[17]?.startsWith("UP") === true };
    },
  };
}
