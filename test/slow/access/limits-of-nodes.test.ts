import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { Account } from "../../../src/access/account.ts";
import { createLimits, type Limits } from "../../../src/access/limits.ts";
import { errorFromFaults } from "../../../src/errors/errors.ts";
import { createMemoryLimitStore } from "../../../src/storage/memory/limit-store.ts";
import { createRedisClock } from "../../../src/storage/redis/clock.ts";
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

/** A node, as far as it limits. */
interface Node {
  readonly redis: Redis;
  readonly limits: Limits;
  /** As a kill does: it says nothing more. */
  die(): void;
}

/** Of a Redis that does not go away: a busy machine must not look like one that does. */
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
    const clock = opened.use(createRedisClock(redis));
    const store = opened.use(createRedisLimitStore(redis, clock, heldMs === undefined ? {} : { heldMs }));
    const limits = createLimits(createMemoryLimitStore(), { store, nodes: () => nodes });
    const node: Node = { redis, limits, die: () => redis[Symbol.dispose]() };
    return node;
  }

  /** Nodes over the same part of Redis, which is empty. */
  function startNodes(count: number, heldMs?: number): Promise<readonly Node[]> {
    const prefix = `limits-${prefixes++}:`;
    return Promise.all(Array.from({ length: count }, () => startNode(prefix, count, heldMs)));
  }

  /** Asks one node after the other, each when all have told what they know. */
  async function spread(count: number): Promise<Limits> {
    const nodes = await startNodes(count);
    const [first] = nodes.map(({ limits }) => limits);
    if (first === undefined) {
      throw new Error("no node");
    }
    let asked = 0;
    const next = async () => {
      await Promise.all(
        nodes.map(({ redis }) => redis.ask("ECHO", [], ["what was sent before was answered"])),
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
    test.each([1, 2, 3])("a window of 60 lets exactly 60 through: %i", async (count) => {
      const plan = planWith([{ ...minute, quota: 60 }]);
      const nodes = await startNodes(count);
      const entries = await Promise.all(
        nodes.flatMap(({ limits }) => Array.from({ length: 70 }, () => run(limits, keyless(plan)))),
      );
      const admitted = entries.filter(({ kind }) => kind === "admitted");
      expect(admitted).toHaveLength(60);
      // Each was told another number of those that are left.
      const left = admitted.map((entry) => (entry.kind === "admitted" ? entry.windows[0]?.remaining : 0));
      expect(left.toSorted((a = 0, b = 0) => b - a)).toEqual(Array.from({ length: 60 }, (_, at) => 59 - at));
    });

    test("as many searches are under way as a caller may have", async () => {
      const plan = planWith([], 4);
      const nodes = await startNodes(3);
      const entries = await Promise.all(
        nodes.flatMap(({ limits }) =>
          Array.from({ length: 20 }, () => limits.enter(keyless(plan), timeOf(1000))),
        ),
      );
      expect(entries.filter(({ kind }) => kind === "admitted")).toHaveLength(4);
    });

    test("a request costs two operations of Redis at most, and one that nothing is counted of none", async () => {
      const plan = planWith([minute, engine], 4);
      const many = { ...plan, limits: { ...plan.limits, rates: [{ ...minute, quota: 100 }, engine] } };
      // It says nothing of what it holds while this test runs.
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
      await redis.ask("ECHO", [], ["what was sent before was answered"]);
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

  test("a caller that was refused too often on all nodes together is refused by the node that saw it", async () => {
    const plan = planWith([{ name: "refusals", quota: 10, windowS: 60, unit: "refusal" }]);
    const [one, other] = await startNodes(2);
    const account = keyless(plan);
    const wrong = errorFromFaults([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);
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
      const wrong = errorFromFaults([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);
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
    const clock = opened.use(createRedisClock(redis));
    const store = opened.use(createRedisLimitStore(redis, clock, options));
    return { redis, limits: createLimits(createMemoryLimitStore(), { store, nodes: () => nodes }) };
  }

  test("while Redis stands still, no call waits for it, and shares are let in, rounded up; each call counts once", async () => {
    const { redis, limits } = await startNode();
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([6, 1000]);
    server.pause();
    // Redis stands still until all of them are answered. Three of seven: the first is sent to Redis, which counts it when it goes on, or not at all.
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
    expect(await remainingOf(limits, account)).toEqual([6, 1000]);
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([5, 1000]);
  });

  test("while Redis stands still for longer than a place is held, a call that was let in without it does not count", async () => {
    const { redis, limits } = await startNode({ heldMs: 1000 });
    await run(limits, account);
    server.pause();
    expect((await run(limits, account)).kind).toBe("admitted");
    await sleep(1200);
    server.resume();
    await until(() => redis.health.kind === "up");
    await until(async () => (await remainingOf(limits, account))[0] === 6);
    await sleep(100);
    expect(await remainingOf(limits, account)).toEqual([6, 1000]);
    expect(await redis.ask("ZCARD", ["places:key"])).toBe(0);
  });

  test("while Redis stands still and a node dies, what that node has sent comes too late to count or to hold anything", async () => {
    const prefix = `away-${prefixes++}:`;
    const one = await startNode({ prefix, heldMs: 1000 });
    const other = await startNode({ prefix, heldMs: 1000 });
    await one.limits.enter(account, timeOf(60_000));
    server.pause();
    await run(one.limits, account);
    one.redis[Symbol.dispose]();
    await sleep(1200);
    server.resume();
    await until(() => other.redis.health.kind === "up");
    await sleep(100);
    expect(await remainingOf(other.limits, account)).toEqual([6, 1000]);
    expect(await other.redis.ask("ZCARD", ["places:key"])).toBe(0);
  });

  test("while Redis is gone, each node runs its share of the searches at a time, and those that Redis let in count when it is back", async () => {
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
    expect(await remainingOf(limits, account)).toEqual([6, 900]);
  });

  test("a request counts once if Redis does not say that it has counted it", async () => {
    const { redis, limits } = await startNode();
    const entry = await limits.enter(account, timeOf(1000));
    await run(limits, account);
    server.pause();
    // Sent, and not heard of: it is sent again over another connection, while the first one has it, too.
    leave(entry, 300);
    await until(() => redis.health.kind === "down");
    server.resume();
    await until(() => redis.health.kind === "up");
    await until(async () => (await remainingOf(limits, account))[1] === 700);
    await sleep(700);
    expect(await remainingOf(limits, account)).toEqual([5, 700]);
    expect(await redis.ask("ZCARD", ["places:key"])).toBe(0);
  });

  test("while Redis is full, it counts nothing more, and shares are let in until it is not", async () => {
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
    "while Redis %s, shares are let in, and the operator learns why",
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
