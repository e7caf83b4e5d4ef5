import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createLimits } from "../../../src/access/limits.ts";
import { createMemoryLimitStore } from "../../../src/storage/memory/limit-store.ts";
import { createRedisLimitStore } from "../../../src/storage/redis/limit-store.ts";
import { textsOf } from "../../../src/storage/redis/replies.ts";
import { engine, keyed, leave, minute, planWith, remainingOf, run, timeOf } from "../../contract/limits.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";
import { startStopwatch } from "../../support/stopwatch.ts";

describeWith("redis")("limits in Redis", () => {
  const server = useRedis();
  const connect = useConnections(server);
  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());

  async function openLimits(prefix: string) {
    const redis = await connect(prefix);
    const store = opened.use(createRedisLimitStore(redis));
    return { redis, store, limits: createLimits(createMemoryLimitStore(), { store, nodes: () => 1 }) };
  }

  test("if the operator shortens a window, a window in Redis ends at the latest after the new length", async () => {
    const { redis, limits } = await openLimits("shorter:");
    const planOf = (windowS: number) =>
      planWith([
        { ...engine, windowS },
        { ...minute, windowS, quota: 1 },
      ]);
    const [long, short] = [planOf(86_400), planOf(1)];
    await run(limits, keyed(long, "key", "a"), 1000);
    // A node does not wait until Redis has counted the engine time.
    await until(
      () => remainingOf(limits, keyed(long, "key", "a")),
      ([, engineMs]) => engineMs === 0,
    );
    const entry = await run(limits, keyed(short, "key", "a"));
    expect(entry).toMatchObject({ refusal: { code: "quota_exhausted" } });
    expect(entry.kind === "refused" && entry.refusal.retryAfterMs).toBeLessThanOrEqual(1000);
    await sleep(1010);
    expect((await run(limits, keyed(short, "key", "a"))).kind).toBe("entered");
    // Reading the windows shortens them too.
    await run(limits, keyed(long, "reader", "b"));
    expect(await remainingOf(limits, keyed(short, "reader", "b"))).toEqual([0, 1000]);
    await expect(redis.ask("PTTL", ["window:free/minute reader"])).resolves.toBeLessThanOrEqual(1000);
  });

  test("searches and waiting requests of a time when Redis's clock was fast do not count", async () => {
    const { redis, limits } = await openLimits("fast:");
    const hourAhead = Date.now() + 3_600_000;
    await redis.ask("ZADD", ["places:key"], [hourAhead, `dead.1:${hourAhead}:700`]);
    await redis.ask("ZADD", ["turns:key"], [hourAhead, `${Date.now()}:dead.2`]);
    const enter = () => limits.enter(keyed(planWith([], 1), "key", "a"), timeOf(700));
    expect((await enter()).kind).toBe("entered");
    expect((await enter()).kind).toBe("refused");
  });

  test("if a node with a waiting request dies, the other requests of the caller wait for about a second", async () => {
    const plan = planWith([], 1);
    const [dying, living] = [await openLimits("dying:"), await openLimits("dying:")];
    const { signal } = new AbortController();
    const enter = ({ limits }: typeof dying, waiting?: AbortSignal) =>
      limits.enter(keyed(plan, "key", "a"), timeOf(700), { waiting });
    const first = await enter(living);
    enter(dying, signal).catch(() => {});
    await until(() => living.redis.ask("ZCARD", ["turns:key"]), Boolean);
    dying.redis[Symbol.dispose]();
    const { redis } = living;
    const [turn = ""] = textsOf(await redis.ask("ZRANGE", ["turns:key"], [0, -1]));
    // All times are by Redis's clock, because this thread may be late.
    const expiresAt = Number(await redis.ask("ZSCORE", ["turns:key"], [turn]));
    const [seconds, microseconds] = textsOf(await redis.ask("TIME", [])).map(Number) as [number, number];
    expect(expiresAt).toBeLessThanOrEqual(seconds * 1000 + microseconds / 1000 + 1000);
    leave(first);
    const elapsedMs = startStopwatch();
    const next = await enter(living, signal);
    expect(elapsedMs()).toBeLessThan(2000);
    const [place = ""] = textsOf(await redis.ask("ZRANGE", ["places:key"], [0, -1]));
    expect(Number(place.split(":").at(-2))).toBeGreaterThanOrEqual(expiresAt);
    leave(next);
    await until(
      () => living.redis.ask("EXISTS", ["turns:key"]),
      (exists) => exists === 0,
    );
  });

  test("waiting requests that one node sends to Redis in the same millisecond are admitted in their order", async () => {
    const { limits } = await openLimits("together:");
    const { signal } = new AbortController();
    const admitted: number[] = [];
    const enter = async (request: number) => {
      const entry = await limits.enter(keyed(planWith([], 1), "key", "a"), timeOf(700), { waiting: signal });
      admitted.push(request);
      leave(entry);
    };
    const first = await limits.enter(keyed(planWith([], 1), "key", "a"), timeOf(700));
    const requests = Array.from({ length: 30 }, (_, index) => index);
    const waits = requests.map(enter);
    leave(first);
    await Promise.all(waits);
    expect(admitted).toEqual(requests);
  });

  test("a waiting request that disconnects leaves no turn in Redis", async () => {
    const plan = planWith([], 1);
    const { redis, limits } = await openLimits("left:");
    const leaving = new AbortController();
    await limits.enter(keyed(plan, "key", "a"), timeOf(700));
    const left = limits.enter(keyed(plan, "key", "a"), timeOf(700), { waiting: leaving.signal });
    await until(() => redis.ask("ZCARD", ["turns:key"]), Boolean);
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    await until(
      () => redis.ask("ZCARD", ["turns:key"]),
      (waiting) => waiting === 0,
      500,
    );
  });
});
