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

interface Node {
  readonly redis: Redis;
  readonly limits: Limits;
  die(): void;
}

/** Long timeouts, so that a busy machine is not mistaken for a Redis that does not respond. */
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

  /** Starts nodes that share a new key prefix in Redis. */
  function startNodes(count: number, heldMs?: number): Promise<readonly Node[]> {
    const prefix = `limits-${prefixes++}:`;
    return Promise.all(Array.from({ length: count }, () => startNode(prefix, count, heldMs)));
  }

  /** Returns limits that use the nodes in turn. Before each operation, all earlier Redis commands have been processed. */
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

  describe("with simultaneous requests to all nodes", () => {
    test.each([1, 2, 3])(
      "a limit of 60 requests a minute admits exactly 60 of many simultaneous requests; number of nodes: %i",
      async (count) => {
        const plan = planWith([{ ...minute, quota: 60 }]);
        const nodes = await startNodes(count);
        const entries = await Promise.all(
          nodes.flatMap(({ limits }) => Array.from({ length: 70 }, () => run(limits, keyless(plan)))),
        );
        const admitted = entries.filter(({ kind }) => kind === "entered");
        expect(admitted).toHaveLength(60);
        const left = admitted.map((entry) => (entry.kind === "entered" ? entry.windows[0]?.remaining : 0));
        expect(left.toSorted((a = 0, b = 0) => b - a)).toEqual(
          Array.from({ length: 60 }, (_, at) => 59 - at),
        );
      },
    );

    test("three nodes together run as many searches of a caller at the same time as its plan allows", async () => {
      const plan = planWith([], 4);
      const nodes = await startNodes(3);
      const entries = await Promise.all(
        nodes.flatMap(({ limits }) =>
          Array.from({ length: 20 }, () => limits.enter(keyless(plan), timeOf(1000))),
        ),
      );
      expect(entries.filter(({ kind }) => kind === "entered")).toHaveLength(4);
    });

    test("a request causes at most two Redis operations, and none if its plan has no limits", async () => {
      const plan = planWith([minute, engine], 4);
      const many = { ...plan, limits: { ...plan.limits, rates: [{ ...minute, quota: 100 }, engine] } };
      // The store renews its reservations hourly, so none is renewed during this test.
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

  test("a running search counts towards its caller's limit until the search ends or its node dies", async () => {
    const plan = planWith([], 1);
    const [one, other] = await startNodes(2, 1000);
    const entry = await one?.limits.enter(keyless(plan), timeOf(60_000));
    expect(entry?.kind).toBe("entered");
    await sleep(1500);
    expect(await other?.limits.enter(keyless(plan), timeOf(1))).toMatchObject({ kind: "refused" });
    one?.die();
    await sleep(1050);
    expect(await other?.limits.enter(keyless(plan), timeOf(1))).toMatchObject({ kind: "entered" });
  });

  test("the engine time of a caller is added to Redis exactly once, even if writing another caller's engine time fails", async () => {
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
    // If failed writes were queued, the queue would send the writes again in this time.
    await sleep(1200);
    expect(await remainingOf(limits, one)).toEqual([700]);
    expect(await remainingOf(limits, other)).toEqual([700]);
    expect(await redis.ask("EXISTS", ["window:free/engine one", "window:free/engine other"])).toBe(2);
  });

  test("if refusals on two nodes together use up a caller's error quota, at least one of the nodes refuses the caller", async () => {
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
    "for each additional node, a caller gets at most one extra refusal before all nodes enforce the error quota; number of nodes: %i",
    async (count) => {
      const quota = 10;
      const plan = planWith([{ name: "refusals", quota, windowS: 60, unit: "refusal" }]);
      const nodes = await startNodes(count);
      const account = keyless(plan);
      const wrong = errorFromViolations([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);
      let read = 0;
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
      // Every node refuses the caller until the window ends.
      for (const { limits } of nodes) {
        expect(() => limits.errorQuota.check(account)).toThrow(`The limit of ${quota} refusals`);
      }
    },
  );
});

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

  test("while Redis hangs, each of three nodes enforces a third of the limit, rounded up; afterwards Redis counts at most one extra request", async () => {
    const { redis, limits } = await startNode({ heldMs: 1000 });
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([6, 1000]);
    server.pause();
    // Each of the three nodes may admit a third of seven requests, rounded up: three. The first of these requests is also sent
    // to Redis, which may count it later.
    const entries = [];
    for (let count = 0; count < 4; count++) {
      entries.push(await run(limits, account));
    }
    expect(entries.map(({ kind }) => kind)).toEqual(["entered", "entered", "entered", "refused"]);
    expect(entries[2]).toMatchObject({
      windows: [
        { policy: { quota: 3 }, remaining: 0 },
        { policy: { quota: 334 }, remaining: 334 },
      ],
    });
    expect(entries[3]).toMatchObject({ refusal: { code: "rate_limited", quota: 3 } });
    expect(redis.health.kind).toBe("down");
    server.resume();
    await until(() => redis.health.kind === "up");
    await sleep(100);
    const [remaining = 0] = await remainingOf(limits, account);
    expect([5, 6]).toContain(remaining);
    // The reservation of the first request expires, because no search holds it.
    await until(async () => (await redis.ask("ZCOUNT", ["places:key"], [Date.now(), "+inf"])) === 0);
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([remaining - 1, 1000]);
  });

  test("while Redis is down, each node enforces its part of the limit of concurrent searches; after a restart, Redis counts running searches again", async () => {
    const { redis, limits } = await startNode();
    const enter = () => limits.enter(account, timeOf(60_000));
    const before = await enter();
    await server.kill();
    await until(() => redis.health.kind === "down");
    expect([(await enter()).kind, (await enter()).kind]).toEqual(["entered", "entered"]);
    expect(await enter()).toMatchObject({ refusal: { code: "concurrency_limited", quota: 2 } });
    await server.restart();
    await until(() => redis.health.kind === "up");
    await until(async () => (await redis.ask("ZCARD", ["places:key"])) === 1);
    leave(before);
    await until(async () => (await redis.ask("ZCARD", ["places:key"])) === 0);
  });

  test("engine time that is used while Redis is down counts only against the limit of its own node", async () => {
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

  test("a search that ends while Redis hangs stops counting towards its caller's limit soon after Redis responds again", async () => {
    const { redis, limits } = await startNode({ heldMs: 1000 });
    const entry = await limits.enter(account, timeOf(1000));
    server.pause();
    leave(entry, 300);
    await until(() => redis.health.kind === "down");
    server.resume();
    await until(() => redis.health.kind === "up");
    await until(async () => (await redis.ask("ZCOUNT", ["places:key"], [Date.now(), "+inf"])) === 0);
    // The engine time is sent only once, so it may be lost.
    const [, engineMs] = await remainingOf(limits, account);
    expect([700, 1000]).toContain(engineMs);
  });

  test("if a node admitted a search while Redis did not respond, Redis does not count the search later", async () => {
    const { redis, limits } = await startNode();
    await run(limits, account);
    // Redis must know the end of the first search before it is paused.
    await until(async () => (await redis.ask("ZCARD", ["places:key"])) === 0);
    server.pause();
    expect(await limits.enter(account, timeOf(1000))).toMatchObject({ kind: "entered" });
    await until(() => redis.health.kind === "down");
    server.resume();
    await until(() => redis.health.kind === "up");
    // Redis has executed the earlier commands by now.
    expect(await redis.ask("ZCARD", ["places:key"])).toBe(0);
  });

  test("a node sends the engine time of its last searches to Redis before the node stops", async () => {
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

  test("while the memory of Redis is full, a node enforces its part of the limit", async () => {
    const { redis, limits } = await startNode();
    await redis.ask("CONFIG", [], ["SET", "maxmemory", "1"]);
    const entries = [];
    for (let count = 0; count < 4; count++) {
      entries.push((await run(limits, account)).kind);
    }
    expect(entries).toEqual(["entered", "entered", "entered", "refused"]);
    expect(redis.health).toMatchObject({ kind: "unwritable", why: expect.stringMatching(/^OOM/) });
    await redis.ask("CONFIG", [], ["SET", "maxmemory", "0"]);
    await until(() => redis.health.kind === "up");
    await run(limits, account);
    expect(await remainingOf(limits, account)).toEqual([6, 1000]);
  });
});
