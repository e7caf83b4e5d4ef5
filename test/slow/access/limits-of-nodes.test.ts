import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { Account } from "../../../src/access/account.ts";
import { createLimits, type Limits } from "../../../src/access/limits.ts";
import { errorFromViolations } from "../../../src/errors/errors.ts";
import { createMemoryLimitStore } from "../../../src/storage/memory/limit-store.ts";
import type { Redis, RedisTimes } from "../../../src/storage/redis/connection.ts";
import { createRedisLimitStore, type LimitStoreOptions } from "../../../src/storage/redis/limit-store.ts";
import {
  engine,
  keyed,
  keyless,
  leave,
  minute,
  planWith,
  remainingOf,
  run,
  testLimits,
  testWindows,
  timeOf,
} from "../../contract/limits.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";

/** The limits of one node. */
interface Node {
  readonly redis: Redis;
  readonly limits: Limits;
  /** Ends its connection, as a kill does. */
  die(): void;
}

/** A busy machine must not look like a Redis that is away. */
const patient: Partial<RedisTimes> = { operationMaxMs: 10_000, connectMaxMs: 10_000 };
const times: Partial<RedisTimes> = {
  operationMaxMs: 1000,
  connectMaxMs: 5000,
  heartbeatMs: 50,
  retryMaxMs: 100,
};

describeWith("redis")("limits of several nodes", () => {
  const server = useRedis();
  const connect = useConnections(server);
  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());
  let prefixes = 0;

  async function startNode(prefix: string, nodes: number, heldMs?: number) {
    const redis = await connect(prefix, patient);
    const store = opened.use(createRedisLimitStore(redis, heldMs === undefined ? {} : { heldMs }));
    const limits = createLimits(createMemoryLimitStore(), { store, nodes: () => nodes });
    const node: Node = { redis, limits, die: () => redis[Symbol.dispose]() };
    return node;
  }

  /** Nodes over the same part of Redis, which is empty. */
  function startNodes(count: number, heldMs?: number): Promise<readonly Node[]> {
    const prefix = `limits-${prefixes++}:`;
    return Promise.all(Array.from({ length: count }, () => startNode(prefix, count, heldMs)));
  }

  /** Uses one node after the other, each when Redis has taken what the others have sent. */
  async function spread(count: number): Promise<Limits> {
    const nodes = await startNodes(count);
    const [first] = nodes.map(({ limits }) => limits);
    if (first === undefined) {
      throw new Error("no node");
    }
    let asked = 0;
    const next = async () => {
      await Promise.all(
        nodes.map(({ redis }) => redis.ask("ECHO", [], ["Redis has answered what was sent before"])),
      );
      return nodes[asked++ % count]?.limits ?? first;
    };
    return {
      ...first,
      enter: async (...args) => (await next()).enter(...args),
      windowsOf: async (...args) => (await next()).windowsOf(...args),
      allWindowsOf: async (...args) => (await next()).allWindowsOf(...args),
    };
  }

  testLimits("Redis by one node", () => spread(1));
  testLimits("Redis by three nodes", () => spread(3));
  testWindows("Redis by three nodes", () => spread(3));

  describe("over nodes that are all asked at once", () => {
    test.each([1, 2, 3])(
      "a window of 60 admits exactly 60 requests over so many nodes: %i",
      async (count) => {
        const plan = planWith([{ ...minute, quota: 60 }]);
        const nodes = await startNodes(count);
        const entries = await Promise.all(
          nodes.flatMap(({ limits }) => Array.from({ length: 70 }, () => run(limits, keyless(plan)))),
        );
        const admitted = entries.filter(({ kind }) => kind === "admitted");
        expect(admitted).toHaveLength(60);
        // Each answer states another number of remaining requests.
        const left = admitted.map((entry) => (entry.kind === "admitted" ? entry.windows[0]?.remaining : 0));
        expect(left.toSorted((a = 0, b = 0) => b - a)).toEqual(
          Array.from({ length: 60 }, (_, at) => 59 - at),
        );
      },
    );

    test("a caller has as many searches at a time over three nodes as its plan allows", async () => {
      const plan = planWith([], 4);
      const nodes = await startNodes(3);
      const entries = await Promise.all(
        nodes.flatMap(({ limits }) =>
          Array.from({ length: 20 }, () => limits.enter(keyless(plan), timeOf(1000))),
        ),
      );
      expect(entries.filter(({ kind }) => kind === "admitted")).toHaveLength(4);
    });

    test("a request costs two operations of Redis at most, and none if nothing of it is counted", async () => {
      const plan = planWith([minute, engine], 4);
      const many = { ...plan, limits: { ...plan.limits, rates: [{ ...minute, quota: 100 }, engine] } };
      // It renews no places while this test runs.
      const [node = expect.fail("no node")] = await startNodes(1, 3_600_000);
      const { redis, limits } = node;
      await run(limits, keyed(many, "key", "a"), 1);
      await limits.flush();
      const operations = vi.spyOn(redis, "run");
      for (let count = 0; count < 20; count++) {
        await run(limits, keyed(many, "key", "a"), 1);
      }
      await expect.poll(() => operations.mock.calls.length).toBe(40);
      await run(limits, keyless(planWith([])), 1);
      await redis.ask("ECHO", [], ["Redis has answered what was sent before"]);
      expect(operations).toHaveBeenCalledTimes(40);
    });
  });

  test("places that a node holds stay held as long as it lives, and are given back when it dies", async () => {
    const plan = planWith([], 1);
    const [one, other] = await startNodes(2, 1000);
    const entry = await one?.limits.enter(keyless(plan), timeOf(60_000));
    expect(entry?.kind).toBe("admitted");
    await sleep(1500);
    expect(await other?.limits.enter(keyless(plan), timeOf(1))).toMatchObject({ kind: "refused" });
    one?.die();
    await sleep(1050);
    expect(await other?.limits.enter(keyless(plan), timeOf(1))).toMatchObject({ kind: "admitted" });
  });

  test("engine time counts once in Redis, also if that of another caller cannot be written", async () => {
    const plan = planWith([engine]);
    const [node = expect.fail("no node")] = await startNodes(1);
    const { redis, limits } = node;
    const [one, broken, other] = ["one", "broken", "other"].map((id) => keyed(plan, id, id)) as [
      Account,
      Account,
      Account,
    ];
    const entries = [];
    for (const account of [one, broken, other]) {
      entries.push(await limits.enter(account, timeOf(1000)));
    }
    await redis.ask("SET", ["window:free/engine broken"], ["no window"]);
    for (const entry of entries) {
      leave(entry, 300);
    }
    // A queue of failed writes would send them again in this time.
    await sleep(1200);
    expect(await remainingOf(limits, one)).toEqual([700]);
    expect(await remainingOf(limits, other)).toEqual([700]);
    expect(await redis.ask("EXISTS", ["window:free/engine one", "window:free/engine other"])).toBe(2);
  });

  test("a caller that was refused too often on all nodes together is refused by the node that saw it", async () => {
    const plan = planWith([{ name: "refusals", quota: 10, windowS: 60, unit: "refusal" }]);
    const [one, other] = await startNodes(2);
    const account = keyless(plan);
    const wrong = errorFromViolations([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);
    for (let count = 0; count < 5; count++) {
      one?.limits.errorQuota.count(account, wrong);
      other?.limits.errorQuota.count(account, wrong);
    }
    await expect.poll(() => isRefused(one?.limits, account) || isRefused(other?.limits, account)).toBe(true);
    expect(await remainingOf(one?.limits as Limits, account)).toEqual([0]);
  });

  test.each([1, 2, 5])(
    "an error quota is overdrawn by one refusal of each other node at most: %i",
    async (count) => {
      const quota = 10;
      const plan = planWith([{ name: "refusals", quota, windowS: 60, unit: "refusal" }]);
      const nodes = await startNodes(count);
      const account = keyless(plan);
      const wrong = errorFromViolations([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);
      let read = 0;
      // A caller who asks them in turn, and waits for each answer.
      for (let asked = 0; asked < 5 * (quota + count); asked++) {
        const { limits, redis } = nodes[asked % count] as Node;
        if (!isRefused(limits, account)) {
          read++;
          limits.errorQuota.count(account, wrong);
          await redis.ask("PING", []);
          await sleep(1);
        }
      }
      expect(read).toBe(quota + count - 1);
      // Then each knows it until the window ends.
      for (const { limits } of nodes) {
        expect(() => limits.errorQuota.check(account)).toThrow(`The limit of ${quota} refusals`);
      }
    },
  );
});

/** True if the caller has used up its error quota, as this node knows. */
function isRefused(limits: Limits | undefined, account: Account): boolean {
  try {
    limits?.errorQuota.check(account);
    return false;
  } catch {
    return true;
  }
}

interface NodeOptions extends LimitStoreOptions {
  readonly prefix?: string;
  readonly nodes?: number;
}

describeWith("redis")("limits while Redis", () => {
  const server = useRedis();
  const connect = useConnections(server);
  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());
  const plan = planWith([{ ...minute, quota: 7 }, engine], 5);
  const account = keyed(plan, "key", "a");
  let prefixes = 0;

  async function startNode({ prefix = `away-${prefixes++}:`, nodes = 3, ...options }: NodeOptions = {}) {
    const redis = await connect(prefix, times);
    const store = opened.use(createRedisLimitStore(redis, options));
    return { redis, limits: createLimits(createMemoryLimitStore(), { store, nodes: () => nodes }) };
  }

  test("while Redis stands still, a node enforces its share, rounded up, and one request too many counts afterwards at most", async () => {
    const { redis, limits } = await startNode({ heldMs: 1000 });
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([6, 1000]);
    server.pause();
    // A third of seven. The first request is sent to Redis, which may count it when it goes on.
    const entries = [];
    for (let count = 0; count < 4; count++) {
      entries.push(await run(limits, account));
    }
    expect(entries.map(({ kind }) => kind)).toEqual(["admitted", "admitted", "admitted", "refused"]);
    expect(entries[2]).toMatchObject({ windows: [{ policy: { quota: 3 }, remaining: 0 }] });
    expect(entries[3]).toMatchObject({ refusal: { code: "rate_limited", quota: 3 } });
    expect(redis.health.kind).toBe("down");
    server.resume();
    await until(() => redis.health.kind === "up");
    await sleep(100);
    const [remaining = 0] = await remainingOf(limits, account);
    expect([5, 6]).toContain(remaining);
    // The place that nobody holds expires.
    await until(async () => (await redis.ask("ZCOUNT", ["places:key"], [Date.now(), "+inf"])) === 0);
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([remaining - 1, 1000]);
  });

  test("while Redis is gone, each node runs its share of the searches at a time, and searches that Redis has admitted count when it is back", async () => {
    const { redis, limits } = await startNode();
    const enter = () => limits.enter(account, timeOf(60_000));
    const before = await enter();
    await server.kill();
    await until(() => redis.health.kind === "down");
    expect([(await enter()).kind, (await enter()).kind]).toEqual(["admitted", "admitted"]);
    expect(await enter()).toMatchObject({ refusal: { code: "concurrency_limited", quota: 2 } });
    await server.restart();
    await until(() => redis.health.kind === "up");
    await until(async () => (await redis.ask("ZCARD", ["places:key"])) === 1);
    leave(before);
    await until(async () => (await redis.ask("ZCARD", ["places:key"])) === 0);
  });

  test("while Redis is gone, engine time counts in the share of its node alone", async () => {
    const { redis, limits } = await startNode();
    await run(limits, account, 100);
    server.pause();
    await run(limits, account, 200);
    await until(() => redis.health.kind === "down");
    expect((await remainingOf(limits, account))[1]).toBe(334 - 200);
    server.resume();
    await until(() => redis.health.kind === "up");
    expect((await remainingOf(limits, account))[1]).toBe(900);
  });

  test("the place of a search that ends while Redis is gone is free soon after Redis is back", async () => {
    const { redis, limits } = await startNode({ heldMs: 1000 });
    const entry = await limits.enter(account, timeOf(1000));
    server.pause();
    leave(entry, 300);
    await until(() => redis.health.kind === "down");
    server.resume();
    await until(() => redis.health.kind === "up");
    await until(async () => (await redis.ask("ZCOUNT", ["places:key"], [Date.now(), "+inf"])) === 0);
    // The engine time was sent once, and may be lost.
    const [, engineMs] = await remainingOf(limits, account);
    expect([700, 1000]).toContain(engineMs);
  });

  test("a place that Redis would have given late, after it stood still, holds up no caller", async () => {
    const { redis, limits } = await startNode();
    await run(limits, account);
    server.pause();
    expect(await limits.enter(account, timeOf(1000))).toMatchObject({ kind: "admitted" });
    await until(() => redis.health.kind === "down");
    server.resume();
    await until(() => redis.health.kind === "up");
    // Redis has carried out by now what was sent before.
    expect(await redis.ask("ZCARD", ["places:key"])).toBe(0);
  });

  test("a node that stops has sent what its last searches used", async () => {
    const prefix = `away-${prefixes++}:`;
    const other = await startNode({ prefix });
    {
      const redis = await connect(prefix, times);
      await using store = createRedisLimitStore(redis);
      const limits = createLimits(createMemoryLimitStore(), { store, nodes: () => 1 });
      await run(limits, account, 300);
    }
    expect(await remainingOf(other.limits, account)).toEqual([6, 700]);
  });

  test("while Redis is full, a node enforces its share", async () => {
    const { redis, limits } = await startNode();
    await redis.ask("CONFIG", [], ["SET", "maxmemory", "1"]);
    const entries = [];
    for (let count = 0; count < 4; count++) {
      entries.push((await run(limits, account)).kind);
    }
    expect(entries).toEqual(["admitted", "admitted", "admitted", "refused"]);
    expect(redis.health).toMatchObject({ kind: "unwritable", why: expect.stringMatching(/^OOM/) });
    await redis.ask("CONFIG", [], ["SET", "maxmemory", "0"]);
    await until(() => redis.health.kind === "up");
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([6, 1000]);
  });

  test.each([
    ["may only be read", ["replicaof", "127.0.0.1", "1"], [], ["replicaof", "no", "one"], /replica/],
    [
      "has another password",
      ["config", "set", "requirepass", "new"],
      ["-a", "new"],
      ["config", "set", "requirepass", ""],
      /NOAUTH/,
    ],
  ])(
    "while Redis %s, a node enforces its share, and the operator learns why",
    async (_, spoil, authorized, mend, why) => {
      const { redis, limits } = await startNode();
      const operate = (...words: readonly string[]) =>
        execFileSync("redis-cli", ["-p", String(server.port), ...words], { stdio: "ignore" });
      operate(...spoil);
      // Connected clients go on as before.
      operate(...authorized, "client", "kill", "type", "normal");
      await until(() => redis.health.kind !== "up");
      const kinds = [];
      for (let count = 0; count < 4; count++) {
        kinds.push((await run(limits, account)).kind);
      }
      expect(kinds).toEqual(["admitted", "admitted", "admitted", "refused"]);
      await until(() => "why" in redis.health && why.test(redis.health.why));
      operate(...authorized, ...mend);
      await until(() => redis.health.kind === "up");
      await run(limits, account);
      expect(await remainingOf(limits, account)).toEqual([6, 1000]);
    },
  );
});
