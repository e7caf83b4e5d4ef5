import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { beforeAll, expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/storage/ports.ts";
import { openRedis, RedisUnusable, redisScript } from "../../../src/storage/redis/connection.ts";
import { freePort } from "../../support/free-port.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";
import { selfSigned } from "../../support/self-signed.ts";
import { type RedisProcess, startRedis } from "../../support/start-redis.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

/** Short timeouts, but longer than the pauses of a busy machine. */
const times = { operationMaxMs: 2000, connectMaxMs: 10_000, heartbeatMs: 50, retryMaxMs: 100 };
/** Long timeouts for tests in which nothing times out. */
const patient = { operationMaxMs: 10_000, connectMaxMs: 10_000 };

describeWith("redis")("a connection to Redis", () => {
  const redis = useRedis();
  const connect = useConnections(redis);

  test("a Redis connection adds its prefix to every key", async () => {
    const one = await connect("one:");
    const other = await connect("other:");
    await one.ask("SET", ["name"], ["♔"]);
    expect(await one.ask("GET", ["name"])).toBe("♔");
    expect(await other.ask("GET", ["name"])).toBeNull();
    const bare = await connect("");
    expect(await bare.ask("GET", ["one:name"])).toBe("♔");
  });

  test("a Redis connection can run its scripts even if Redis no longer knows the scripts", async () => {
    const one = await connect();
    const add = redisScript("add", "return redis.call('INCRBY', KEYS[1], ARGV[1])");
    expect(await one.run(add, ["sum"], [2])).toBe(2);
    await one.ask("SCRIPT", [], ["FLUSH"]);
    expect(await one.run(add, ["sum"], [3])).toBe(5);
  });

  test("a Redis connection stays usable after a refused command", async () => {
    const one = await connect();
    await one.ask("SET", ["text"], ["a"]);
    await expect(one.ask("INCR", ["text"])).rejects.toThrow(StoreUnavailable);
    expect(one.health.kind).toBe("up");
    expect(await one.ask("GET", ["text"])).toBe("a");
  });

  test("a Redis connection reports each kind of refused command once", async () => {
    const one = await connect();
    const reported: string[] = [];
    one.changes.on("refused", (why) => reported.push(why));
    await one.ask("SET", ["text"], ["a"]);
    await expect(one.ask("LPUSH", ["text"], ["b"])).rejects.toThrow(StoreUnavailable);
    await expect(one.ask("LPUSH", ["text"], ["b"])).rejects.toThrow(StoreUnavailable);
    expect(reported).toEqual([expect.stringContaining("WRONGTYPE")]);
  });

  test("a Redis connection detects a hanging server, fails commands immediately, and recovers with the server", async () => {
    const one = await connect(undefined, times);
    redis.pause();
    try {
      await expect(one.ask("GET", ["a"])).rejects.toThrow("has not answered within 2000 ms");
      expect(one.health).toMatchObject({ kind: "down" });
      // The command must fail before the next event loop iteration.
      const refused = one.ask("GET", ["a"]).catch((error: unknown) => error);
      expect(await Promise.race([refused, nextTurn("not yet")])).toBeInstanceOf(StoreUnavailable);
    } finally {
      redis.resume();
    }
    await until(() => one.health.kind === "up");
    expect(await one.ask("PING", [])).toBe("PONG");
  });

  test("the deadline that a call sends to Redis is not later than its timeout, even if Redis was slow when its clock was read", async () => {
    const one = await connect(undefined, { ...patient, heartbeatMs: 300 });
    /** The milliseconds that the connection believes Redis's clock to be ahead. Redis runs on this machine, so 0 is right. */
    const aheadMs = () => (one.deadline() ?? Number.NaN) - patient.operationMaxMs - Date.now();
    const seen: number[] = [];
    const watching = setInterval(() => seen.push(aheadMs()), 5);
    redis.pause();
    // Redis executes the probes of this time together when it continues.
    await sleep(1000);
    redis.resume();
    await sleep(1000);
    clearInterval(watching);
    expect(Math.max(...seen)).toBeLessThan(20);
    // A fast reply corrects the clock again.
    expect(seen.at(-1)).toBeGreaterThan(-100);
  });

  test("a Redis connection detects a hanging server even if no command is sent", async () => {
    const one = await connect(undefined, times);
    redis.pause();
    try {
      await until(() => one.health.kind === "down");
    } finally {
      redis.resume();
    }
    await until(() => one.health.kind === "up");
  });

  test("a single timeout of a short command does not mark Redis as down", async () => {
    const one = await connect(undefined, { ...patient, boundedCallMaxMs: 5 });
    const slow = "local n = 0; for i = 1, 3e6 do n = n + 1 end; return n";
    expect(await one.boundedCall("EVAL", [], [slow, 0])).toBeUndefined();
    expect(one.health.kind).toBe("up");
    expect(await one.ask("PING", [])).toBe("PONG");
  });

  test("a Redis connection provides the time of the Redis server", async () => {
    const one = await connect();
    expect(Math.abs((one.now() ?? 0) - Date.now())).toBeLessThan(10_000);
  });

  test("a pause of this process does not mark Redis as down", async () => {
    const operationMaxMs = 500;
    const one = await connect(undefined, { ...times, operationMaxMs });
    redis.pause();
    const answer = one.ask("PING", []);
    // The command is sent. Its answer arrives while this thread is blocked, and is read only after the timeout has passed.
    await sleep(50);
    redis.resume();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * operationMaxMs);
    expect(await answer).toBe("PONG");
  });

  test("a Redis connection is restored after Redis was killed and restarted", async () => {
    const one = await connect(undefined, times);
    const health: string[] = [];
    one.changes.on("change", () => health.push(one.health.kind));
    await redis.kill();
    await until(() => one.health.kind === "down");
    await expect(one.ask("PING", [])).rejects.toThrow(StoreUnavailable);
    await redis.restart();
    await until(() => one.health.kind === "up");
    expect(health).toEqual(["down", "up"]);
    expect(await one.ask("PING", [])).toBe("PONG");
  });

  test("a Redis connection is reported as down at its start if no Redis server is running", async () => {
    using one = await openRedis({ url: `redis://127.0.0.1:${await freePort()}`, prefix: "x:", times });
    expect(one.health).toMatchObject({ kind: "down", why: expect.stringContaining("ECONNREFUSED") });
    await expect(one.ask("PING", [])).rejects.toThrow("ECONNREFUSED");
  });

  test("the start of a Redis connection times out if Redis accepts the connection but never answers", async () => {
    redis.pause();
    try {
      using one = await openRedis({ url: redis.url, prefix: "x:", times: { ...times, connectMaxMs: 200 } });
      expect(one.health).toMatchObject({ kind: "down", why: expect.stringContaining("within 200 ms") });
    } finally {
      redis.resume();
    }
  });

  test("connecting to a Redis database that does not exist fails", async () => {
    const opening = openRedis({ url: `${redis.url}/999`, prefix: "x:", times: patient });
    await expect(opening).rejects.toThrow(RedisUnusable);
    await expect(opening).rejects.toThrow("DB index is out of range");
  });

  test("a Redis connection can read while Redis is full, and can write when memory is free again", async () => {
    const one = await connect(undefined, times);
    await one.ask("SET", ["kept"], ["a"]);
    await one.ask("CONFIG", [], ["SET", "maxmemory", "1"]);
    try {
      await expect(one.ask("SET", ["more"], ["a"])).rejects.toThrow("OOM");
      expect(one.health).toMatchObject({ kind: "unwritable" });
      expect(await one.ask("GET", ["kept"])).toBe("a");
      using another = await openRedis({ url: redis.url, prefix: "x:", times });
      expect(another.health).toMatchObject({ kind: "unwritable" });
    } finally {
      await one.ask("CONFIG", [], ["SET", "maxmemory", "0"]);
    }
    await until(() => one.health.kind === "up");
  });
});

describeWith("redis")("a hanging Redis", () => {
  const redis = useRedis();

  test("failed attempts to connect to a hanging Redis leave no open connections", async () => {
    using one = await openRedis({
      url: redis.url,
      prefix: "x:",
      times: { ...times, operationMaxMs: 200, connectMaxMs: 200 },
    });
    redis.pause();
    await sleep(1000);
    redis.resume();
    await until(() => one.health.kind === "up");
    await until(async () => {
      const list = String(await one.ask("CLIENT", [], ["LIST"]).catch(() => ""));
      return list.trim().split("\n").length === 1;
    });
  });
});

describeWith("redis")("a Redis that refuses commands", () => {
  const redis = useRedis();
  const connect = useConnections(redis);

  test("an unused Redis connection detects that Redis refuses writes, and reports each reason once", async () => {
    const operator = await connect("", patient);
    const one = await connect(undefined, times);
    const reported: string[] = [];
    one.changes.on("change", () => reported.push("why" in one.health ? one.health.why : one.health.kind));
    await operator.ask("CONFIG", [], ["SET", "maxmemory", "1"]);
    await until(() => reported.length === 1);
    await operator.ask("ACL", [], ["SETUSER", "default", "-set"]);
    await until(() => reported.length === 2);
    await sleep(5 * times.heartbeatMs);
    await operator.ask("ACL", [], ["SETUSER", "default", "+@all"]);
    await until(() => reported.length === 3);
    await operator.ask("CONFIG", [], ["SET", "maxmemory", "0"]);
    await until(() => one.health.kind === "up");
    expect(reported).toEqual([
      expect.stringMatching(/^OOM/),
      expect.stringMatching(/^NOPERM/),
      expect.stringMatching(/^OOM/),
      "up",
    ]);
  });
});

describeWith("redis")("a Redis with users", () => {
  const redis = useRedis([
    "--requirepass",
    "it's a secret",
    "--user",
    "kibitz",
    "on",
    ">geheim",
    "~kibitz:*",
    "+@all",
    ...["--user", "timeless", "on", ">geheim", "~*", "+@all", "-pexpire"],
  ]);
  const at = (user: string) => redis.url.replace("//", `//${user}@`);

  test("a Redis connection uses the password in the URL", async () => {
    using one = await openRedis({ url: at(":it%27s%20a%20secret"), prefix: "x:", times: patient });
    expect(await one.ask("PING", [])).toBe("PONG");
  });

  test("a Redis connection uses the user in the URL, even if this user has access only to keys with the prefix", async () => {
    using one = await openRedis({ url: at("kibitz:geheim"), prefix: "kibitz:", times: patient });
    expect(await one.ask("ACL", [], ["WHOAMI"])).toBe("kibitz");
  });

  test.each([
    ["no password", "", "NOAUTH"],
    ["a wrong password", ":wrong", "WRONGPASS"],
    ["a wrong password of a user", "kibitz:wrong", "WRONGPASS"],
  ])("connecting to Redis fails with %s", async (_, user, why) => {
    const url = user ? at(user) : redis.url;
    const opening = openRedis({ url, prefix: "x:", times: patient });
    await expect(opening).rejects.toThrow(RedisUnusable);
    await expect(opening).rejects.toThrow(why);
    await expect(opening).rejects.not.toThrow("wrong");
  });

  test("a Redis connection reports once that its user lacks a permission", async () => {
    using one = await openRedis({ url: at("timeless:geheim"), prefix: "x:", times: patient });
    const reported: string[] = [];
    one.changes.on("refused", (why) => reported.push(why));
    const expire = redisScript("expire", "return redis.call('PEXPIRE', KEYS[1], 1000)");
    for (let count = 0; count < 2; count++) {
      await expect(one.run(expire, ["name"])).rejects.toThrow(/can't run this command|no permissions/);
    }
    expect(reported).toHaveLength(1);
    expect(one.health.kind).toBe("up");
  });

  test("connecting to Redis fails for a user who has access only to keys with another prefix", async () => {
    await expect(openRedis({ url: at("kibitz:geheim"), prefix: "x:", times: patient })).rejects.toThrow(
      "NOPERM",
    );
  });
});

describeWith("redis")("Redis with TLS", () => {
  const folder = useTemporaryFolder();
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  let port: number;
  let server: RedisProcess;
  beforeAll(async () => {
    writeFileSync(files.cert, selfSigned.cert);
    writeFileSync(files.key, selfSigned.key);
    port = await freePort();
    const tls = ["--tls-port", String(port), "--tls-cert-file", files.cert, "--tls-key-file", files.key];
    server = await startRedis(folder, [...tls, "--tls-auth-clients", "no", "--requirepass", "secret"]);
    const trusted = getCACertificates("default");
    return async () => {
      setDefaultCACertificates(trusted);
      await server.stop();
    };
  });

  test("a Redis connection with TLS works only if the certificate is trusted", async () => {
    const url = `rediss://:secret@localhost:${port}`;
    const opening = openRedis({ url, prefix: "x:", times: patient });
    await expect(opening).rejects.toThrow(RedisUnusable);
    await expect(opening).rejects.toThrow("self-signed certificate");
    setDefaultCACertificates([...getCACertificates("default"), selfSigned.cert]);
    for (const host of ["localhost", "127.0.0.1"]) {
      const trusted = url.replace("localhost", host);
      using one = await openRedis({ url: trusted, prefix: "x:", times: patient });
      expect(await one.ask("PING", [])).toBe("PONG");
    }
  });
});

describeWith("redis")("a replica of Redis", () => {
  const replica = useRedis(["--replicaof", "127.0.0.1", "1"]);

  test("connecting to a Redis replica fails", async () => {
    await expect(openRedis({ url: replica.url, prefix: "x:", times: patient })).rejects.toThrow("READONLY");
  });
});
