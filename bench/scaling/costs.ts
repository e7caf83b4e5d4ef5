import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openRedis, type Redis } from "../../src/storage/redis/connection.ts";
import { joinNodes } from "../../src/storage/redis/nodes.ts";
import { freePort } from "../../test/support/free-port.ts";
import { rateOf } from "../../test/support/plans-file.ts";
import { quickestSettings } from "../../test/support/quickest-settings.ts";
import { startHaproxy } from "../../tools/cluster/companions.ts";
import { startCluster } from "../../tools/cluster/start-cluster.ts";
import { createAsker } from "../cluster/offer.ts";
import { makeDataFolder } from "../data-folder.ts";
import { atOnceEngine } from "../service/growth.ts";

/** What Redis and HAProxy have to do, in milliseconds of a processor's core: so others on the machine hardly matter. */
export interface Costs {
  /** Of a request that is counted and searched, whose answer all nodes are told. */
  readonly request: { readonly redisMs: number; readonly haproxyMs: number; readonly commands: number };
  /** Of a node that does nothing, in a second: announcing itself and reading of others; being looked at. */
  readonly node: { readonly redisMs: number; readonly haproxyMs: number };
  /** Connections that Redis takes, as it is by default. */
  readonly redisConnections: number;
}

/** As `KIBITZ_REDIS_URL`'s nodes do. */
const announceEveryMs = 2000;
const callers = 16;

/** Asks so many questions of three nodes behind HAProxy, whose engines answer at once; then has so many nodes idle. */
export async function measureCosts(requests: number, idleNodes: number, idleS: number): Promise<Costs> {
  const engine = await atOnceEngine();
  const plans = join(makeDataFolder(), "plans.json");
  const limits = {
    concurrent: 1000,
    rates: [rateOf("minute", 1e6, 60), rateOf("day", 1e9, 86_400, "engine_ms")],
  };
  writeFileSync(plans, JSON.stringify({ plans: [{ id: "keyless", limits }] }));
  const { KIBITZ_PORT: _, ...settings } = quickestSettings;
  await using cluster = await startCluster({
    env: {
      ...settings,
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: plans,
      KIBITZ_NATIVE_ENGINES: engine.command.file,
      KIBITZ_DEFAULT_ENGINE: engine.id,
      KIBITZ_SLOTS: "2",
      KIBITZ_QUEUE_MAX_WAIT_MS: "60000",
    },
  });
  using redis = await openRedis({
    url: cluster.redisUrl,
    prefix: "idle:",
    times: { operationMaxMs: 10_000, connectMaxMs: 10_000 },
  });
  using ask = createAsker(cluster.url);
  /** Deep enough to be shared: {@link isWorthSharing}. */
  const depth = 12;
  const askMany = async (count: number) => {
    let left = count;
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (left-- > 0) {
          const { status } = await ask(depth);
          if (status !== 200) {
            throw new Error(`refused with ${status}`);
          }
        }
      }),
    );
  };
  await askMany(200);
  const look = async () => ({ ...(await redisTimes(redis)), haproxyMs: processorMs(cluster.balancer.pid) });
  const before = await look();
  await askMany(requests);
  // What is told behind answers.
  await sleep(500);
  const after = await look();
  const beforeIdle = await redisTimes(redis);
  await sleep(idleS * 1000);
  const threeIdle = (await redisTimes(redis)).redisMs - beforeIdle.redisMs;
  return {
    request: {
      redisMs: (after.redisMs - before.redisMs) / requests,
      haproxyMs: (after.haproxyMs - before.haproxyMs) / requests,
      commands: (after.commands - before.commands) / requests,
    },
    node: {
      redisMs: await announcingMs(redis, threeIdle / idleS, idleNodes, idleS),
      haproxyMs: await lookingMs(cluster.nodes[0]?.url ?? "", idleNodes, idleS),
    },
    redisConnections: numberIn(await redis.ask("INFO", [], ["clients"]), "maxclients"),
  };
}

async function redisTimes(redis: Redis) {
  const [processor, stats] = await Promise.all([
    redis.ask("INFO", [], ["cpu"]),
    redis.ask("INFO", [], ["stats"]),
  ]);
  return {
    redisMs: 1000 * (numberIn(processor, "used_cpu_user") + numberIn(processor, "used_cpu_sys")),
    commands: numberIn(stats, "total_commands_processed"),
  };
}

/** A field of what Redis tells of itself. */
function numberIn(info: unknown, field: string): number {
  return Number(new RegExp(`^${field}:([\\d.]+)`, "m").exec(String(info))?.[1]);
}

/** Of all its threads, by the clock of Linux's scheduler. */
function processorMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce(
    (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6,
    0,
  );
}

/** What one of so many nodes costs Redis in a second. @param others what it does meanwhile, in a second */
async function announcingMs(redis: Redis, others: number, count: number, seconds: number): Promise<number> {
  const report = {
    address: "http://10.0.0.1:8080",
    version: "0.1.0",
    upMs: 1000,
    slots: 4,
    running: 1,
    waiting: 0,
    engines: ["wasm", "native"].map((path) => ({ id: "stockfish-19", path, sha256: "a".repeat(64) })),
  };
  const nodes = [];
  for (let at = 0; at < count; at++) {
    const node = joinNodes(redis, { id: `node-${at}`, everyMs: announceEveryMs });
    node.announce(() => report);
    nodes.push(node);
    // As they come in life: not all at once.
    await sleep(announceEveryMs / count);
  }
  await sleep(announceEveryMs);
  const before = await redisTimes(redis);
  await sleep(seconds * 1000);
  const after = await redisTimes(redis);
  await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  return ((after.redisMs - before.redisMs) / seconds - others) / count;
}

/** What one of so many nodes costs HAProxy in a second, that nobody asks. All of them are one here. */
async function lookingMs(url: string, count: number, seconds: number): Promise<number> {
  const { host } = new URL(url);
  const shipped = readFileSync(new URL("../../deploy/haproxy/haproxy.cfg", import.meta.url), "utf8");
  const [line = ""] = /^ *server node1 .*$/m.exec(shipped) ?? [];
  const more = Array.from({ length: count - 3 }, (_, at) => `    server more${at} ${host}`).join("\n");
  const config = join(makeDataFolder(), "haproxy.cfg");
  writeFileSync(config, shipped.replace(line, `${more}\n${line}`));
  await using balancer = await startHaproxy({
    nodes: [host, host, host],
    bind: `127.0.0.1:${await freePort()}`,
    config,
  });
  await sleep(announceEveryMs);
  const before = processorMs(balancer.pid);
  await sleep(seconds * 1000);
  return (processorMs(balancer.pid) - before) / seconds / count;
}
