import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openRedis, type Redis } from "../../../src/storage/redis/connection.ts";
import { describeWith } from "../../support/needs.ts";
import { patienceMs } from "../../support/patience.ts";
import { until } from "../../support/redis.ts";
import { type Relay, startRelay } from "../../support/relay.ts";
import { type RedisProcess, startRedis } from "../../support/start-redis.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const operate = ({ port }: RedisProcess, ...words: readonly string[]) =>
  execFileSync("redis-cli", ["-p", String(port), ...words], { encoding: "utf8" });

describeWith("redis")("a failover of Redis that does not disconnect clients", () => {
  const folders = [useTemporaryFolder(), useTemporaryFolder()] as const;
  const started = new AsyncDisposableStack();
  let one: RedisProcess;
  let other: RedisProcess;
  /** Connects each new client to the current primary, like a DNS name. Open connections stay connected to the old primary. */
  let relay: Relay;
  beforeAll(async () => {
    const quick = ["--repl-diskless-sync-delay", "0"];
    [one, other] = await Promise.all([startRedis(folders[0], quick), startRedis(folders[1], quick)]);
    started.defer(() => one.stop());
    started.defer(() => other.stop());
    relay = started.use(await startRelay(one.port));
  });
  afterAll(() => started.disposeAsync());

  beforeEach(async () => {
    operate(one, "config", "set", "min-replicas-to-write", "0");
    operate(one, "replicaof", "no", "one");
    operate(other, "replicaof", "127.0.0.1", String(one.port));
    await until(() => operate(other, "info", "replication").includes("master_link_status:up"));
    relay.target = one.port;
  });

  async function open() {
    const redis = await openRedis({ url: `redis://127.0.0.1:${relay.port}`, prefix: "x:" });
    const seen: string[] = [];
    redis.changes.on("change", () => {
      const { health } = redis;
      seen.push("why" in health ? `${health.kind}: ${health.why}` : health.kind);
    });
    return { redis, seen, [Symbol.dispose]: () => redis[Symbol.dispose]() };
  }

  const isUp = (redis: Redis) => until(() => redis.health.kind === "up", Boolean, patienceMs);

  test("a node whose Redis becomes a replica connects again and writes to the new primary", async () => {
    using node = await open();
    const { redis, seen } = node;
    await redis.ask("SET", ["before"], ["a"]);

    // For a while both servers are read-only, because no new primary is chosen yet.
    operate(one, "replicaof", "127.0.0.1", "1");
    await until(() => redis.health.kind === "unwritable", Boolean, patienceMs);
    await sleep(1500);
    expect(seen).toEqual([expect.stringContaining("unwritable: READONLY")]);

    operate(other, "replicaof", "no", "one");
    relay.target = other.port;
    await isUp(redis);
    await redis.ask("SET", ["after"], ["b"]);
    expect(operate(other, "get", "x:after")).toBe("b\n");
    // The connection to the old primary is closed.
    await until(() => relay.connections === 1);
    expect(seen).toHaveLength(2);
  });

  test("a node whose Redis has lost its replicas connects again and writes to the new primary", async () => {
    using node = await open();
    const { redis, seen } = node;
    operate(one, "config", "set", "min-replicas-to-write", "2");
    await until(() => redis.health.kind === "unwritable", Boolean, patienceMs);
    operate(other, "replicaof", "no", "one");
    relay.target = other.port;
    await isUp(redis);
    await redis.ask("SET", ["chosen"], ["b"]);
    expect(operate(other, "get", "x:chosen")).toBe("b\n");
    expect(seen[0]).toContain("NOREPLICAS");
  });

  test("a node whose Redis refuses commands for lack of a primary connects again and writes to the new primary", async () => {
    using node = await open();
    const { redis, seen } = node;
    operate(one, "config", "set", "replica-serve-stale-data", "no");
    operate(other, "replicaof", "no", "one");
    // Nothing listens at the address of this primary.
    operate(one, "replicaof", "127.0.0.1", "1");
    try {
      await until(() => redis.health.kind !== "up", Boolean, patienceMs);
      relay.target = other.port;
      await isUp(redis);
      await redis.ask("SET", ["stale"], ["b"]);
      expect(operate(other, "get", "x:stale")).toBe("b\n");
      expect(seen[0]).toMatch(/READONLY|MASTERDOWN/);
    } finally {
      operate(one, "config", "set", "replica-serve-stale-data", "yes");
    }
  });
});

describeWith("redis")("a Redis that is loading its data", () => {
  const folder = useTemporaryFolder();
  let server: RedisProcess;
  beforeAll(async () => {
    server = await startRedis(folder, [
      "--enable-debug-command",
      "yes",
      "--loading-process-events-interval-bytes",
      "1024",
    ]);
  });
  afterAll(() => server.stop());

  test("a Redis that is loading its data is reported as down, and as up when the data is loaded", async () => {
    using redis = await openRedis({ url: server.url, prefix: "x:" });
    operate(server, "debug", "populate", "20000", "filler", "100");
    // Delays each key by 100 µs, so loading takes about two seconds.
    operate(server, "config", "set", "key-load-delay", "100");
    const reload = spawn("redis-cli", ["-p", String(server.port), "debug", "reload"], { stdio: "ignore" });
    const reloaded = once(reload, "exit");
    await until(() => redis.health.kind === "down", Boolean, patienceMs);
    expect(redis.health).toMatchObject({ why: expect.stringMatching(/LOADING|answered within/) });
    await until(() => redis.health.kind === "up", Boolean, patienceMs);
    await redis.ask("SET", ["again"], ["a"]);
    await reloaded;
  });
});
