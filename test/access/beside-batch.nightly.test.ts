import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createLimits, type Limits } from "../../src/access/limits.ts";
import { createMemoryLimitStore } from "../../src/storage/memory/limit-store.ts";
import { openRedis } from "../../src/storage/redis/connection.ts";
import { createRedisLimitStore } from "../../src/storage/redis/limit-store.ts";
import { keyless, leave, planWith, timeOf } from "../contract/limits.ts";
import { describeWith } from "../support/needs.ts";
import { useRedis } from "../support/redis.ts";

const searchMs = 400;
const account = keyless(planWith([], 2));
const tries = 12;

/**
 * Runs a batch in `batch`, which always has as many searches in flight as the caller may have, and waits in `single` for a single
 * request, several times. Returns how long the requests waited, in milliseconds.
 */
async function waitsBeside(batch: Limits, single: Limits): Promise<readonly number[]> {
  const left = new AbortController();
  const { signal } = left;
  const enter = (limits: Limits) => limits.enter(account, timeOf(searchMs), { waiting: signal });
  const workers = [0, searchMs / 2].map(async (startMs) => {
    await sleep(startMs);
    while (!signal.aborted) {
      const entry = await enter(batch);
      await sleep(searchMs);
      leave(entry);
      // The next item of a batch asks in the same turn of the event loop.
    }
  });
  const waits: number[] = [];
  await sleep(searchMs);
  for (let count = 0; count < tries; count++) {
    // Begin each time at another moment of the batch's searches.
    await sleep(searchMs + (count * searchMs) / 2 / tries);
    const askedAt = performance.now();
    const entry = await enter(single);
    waits.push(performance.now() - askedAt);
    leave(entry);
  }
  left.abort(new Error("the end"));
  await Promise.allSettled(workers);
  return waits;
}

const mean = (waits: readonly number[]) => waits.reduce((sum, ms) => sum + ms / waits.length, 0);

// These tests only wait, so they run at the same time.
describeWith("redis")("a single request beside a batch of its caller", () => {
  const redis = useRedis();
  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());

  async function openNode(prefix: string): Promise<Limits> {
    const connection = opened.use(await openRedis({ url: redis.url, prefix }));
    const store = opened.use(createRedisLimitStore(connection));
    return createLimits(createMemoryLimitStore(), { store, nodes: () => 2 });
  }

  test.concurrent("a single request waits with Redis at most 1.5 times as long as without, on the node that runs the batch", async () => {
    const memory = createLimits(createMemoryLimitStore());
    const node = await openNode("same:");
    const [inMemory, inRedis] = await Promise.all([waitsBeside(memory, memory), waitsBeside(node, node)]);
    expect(mean(inRedis)).toBeLessThan(1.5 * mean(inMemory));
    expect(Math.max(...inRedis)).toBeLessThan(searchMs);
  });

  test.concurrent("a single request waits at most two search times of the batch if another node runs the batch, in 12 of 12 attempts", async () => {
    const [one, other] = [await openNode("other:"), await openNode("other:")];
    const waits = await waitsBeside(one, other);
    expect(Math.max(...waits)).toBeLessThan(2 * searchMs);
  });
});
