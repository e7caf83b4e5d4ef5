import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EngineFailure } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { silentLog } from "../../src/log/log.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, type FakeEnginesOptions } from "./fake-engines.ts";

const forever = new AbortController().signal;
const build = buildOf();
const turn = () => new Promise(setImmediate);
const failure = new EngineFailure("no_start", "no memory");

function createFakePool(options: FakeEnginesOptions = {}, idleMax = 2) {
  const engines = createFakeEngines(options);
  const memoryMaxBytes = Number.POSITIVE_INFINITY;
  return { engines, pool: createPool({ backends: [engines], idleMax, memoryMaxBytes, log: silentLog }) };
}

const acquireMany = (pool: ReturnType<typeof createFakePool>["pool"], count: number) =>
  Array.from({ length: count }, () => pool.acquire(build, forever).catch((error) => error));

test("engines that are started together do not wait for each other", async () => {
  const gate = Promise.withResolvers<void>();
  const { engines, pool } = createFakePool({ starting: () => gate.promise });
  const acquired = acquireMany(pool, 8);
  await turn();
  expect(engines.starts).toBe(8);
  gate.resolve();
  await Promise.all(acquired);
});

test("engines that fail to start together are started again after one backoff, for the same callers", async () => {
  // Each backoff is nearly the longest possible: after three of them the build would be unavailable.
  const random = vi.spyOn(Math, "random").mockReturnValue(0.99);
  onTestFinished(() => random.mockRestore());
  const { engines, pool } = createFakePool({
    starting: (number) => (number <= 8 ? Promise.reject(failure) : undefined),
  });
  const acquired = await Promise.all(acquireMany(pool, 8));
  expect(new Set(acquired)).toEqual(new Set(engines.sessions));
  expect(engines.starts).toBe(16);
});

test("engine starts go on when their callers leave, each for the next caller of its build", async () => {
  const gate = Promise.withResolvers<void>();
  const { engines, pool } = createFakePool({
    starting: (number) => (number <= 2 ? gate.promise : undefined),
  });
  for (let round = 0; round < 20; round++) {
    const caller = new AbortController();
    const left = [pool.acquire(build, caller.signal), pool.acquire(build, caller.signal)];
    await turn();
    caller.abort(new Error("left"));
    for (const one of left) {
      await expect(one).rejects.toThrow("left");
    }
  }
  expect(engines.starts).toBe(2);
  const next = pool.acquire(build, forever);
  gate.resolve();
  const acquired = await next;
  await turn();
  // The other one is idle.
  expect(await pool.acquire(build, forever)).not.toBe(acquired);
  expect(engines.starts).toBe(2);
});

test("engine starts that fail after their callers have left fail no other caller", async () => {
  const gate = Promise.withResolvers<void>();
  const { pool } = createFakePool({
    starting: (number) => (number === 1 ? gate.promise : undefined),
  });
  const caller = new AbortController();
  const left = pool.acquire(build, caller.signal);
  await turn();
  caller.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  gate.reject(failure);
  await turn();
  await pool.acquire(build, forever);
});

describe("a build", () => {
  /** Starts fail until they are told to work. */
  function createBrokenPool() {
    let broken = true;
    const { engines, pool } = createFakePool({
      starting: () => (broken ? Promise.reject(failure) : undefined),
    });
    const changes: boolean[] = [];
    pool.changes.on("change", (changed) => changes.push(pool.available(changed)));
    const mend = () => {
      broken = false;
    };
    return { engines, pool, changes, mend };
  }
  const fail = (pool: ReturnType<typeof createFakePool>["pool"]) =>
    expect(pool.acquire(build, forever)).rejects.toThrow();

  test("a build is unavailable after three failed starts in a row, which its caller learns, and others are not", async () => {
    const { engines, pool, changes } = createBrokenPool();
    const acquired = pool.acquire(build, forever);
    acquired.catch(() => {});
    await turn();
    expect([engines.starts, pool.available(build), changes]).toEqual([1, true, []]);
    await expect(acquired).rejects.toBe(failure);
    expect([engines.starts, pool.available(build), changes]).toEqual([3, false, [false]]);
    expect(pool.available(buildOf({ id: "another" }))).toBe(true);
    await pool[Symbol.asyncDispose]();
  });

  test("a caller of an unavailable build learns at once when the next start is tried, if that is far off", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.99);
    onTestFinished(() => random.mockRestore());
    const { engines, pool } = createBrokenPool();
    await fail(pool);
    const { starts } = engines;
    await expect(pool.acquire(build, forever)).rejects.toMatchObject({
      kind: "no_start",
      retryAfterMs: expect.any(Number),
    });
    expect(engines.starts).toBe(starts);
    await pool[Symbol.asyncDispose]();
  });

  test("a build that is unavailable is started again without a caller, and its engine waits for the next one", async () => {
    const { engines, pool, changes, mend } = createBrokenPool();
    await fail(pool);
    mend();
    await expect.poll(() => pool.available(build)).toBe(true);
    expect(changes).toEqual([false, true]);
    await expect.poll(() => engines.sessions.length).toBe(1);
    const { starts } = engines;
    await pool.acquire(build, forever);
    expect(engines.starts).toBe(starts);
    await pool[Symbol.asyncDispose]();
  });

  test("a build that is unavailable does not keep the pool from closing", async () => {
    const { engines, pool } = createBrokenPool();
    await fail(pool);
    const { starts } = engines;
    await pool[Symbol.asyncDispose]();
    await turn();
    expect(engines.starts).toBe(starts);
  });
});

test("an engine whose file is not genuine is ended before a caller acquires it", async () => {
  const { engines, pool } = createFakePool();
  const replaced = new EngineFailure("no_start", "something else");
  const forged = buildOf({ assertGenuine: () => Promise.reject(replaced) });
  await expect(pool.acquire(forged, forever)).rejects.toBe(replaced);
  expect(engines.sessions.length).toBeGreaterThan(0);
  expect(engines.sessions.filter(({ alive }) => alive)).toEqual([]);
  await pool[Symbol.asyncDispose]();
});

test("closing the pool waits also for engines that were retired or recycled a moment ago", async () => {
  const { engines, pool } = createFakePool({}, 0);
  pool.release(await pool.acquire(build, forever));
  expect(engines.sessions.map(({ alive }) => alive)).toEqual([true]);
  await pool[Symbol.asyncDispose]();
  expect(engines.sessions.map(({ alive }) => alive)).toEqual([false]);
});
