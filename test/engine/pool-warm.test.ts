import { describe, expect, test } from "vitest";
import { EngineFailure } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { silentLog } from "../../src/log/log.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, type FakeEnginesOptions } from "./fake-engines.ts";
import { jobOf } from "./job-of.ts";

const forever = new AbortController().signal;
const full = buildOf({ id: "full", net: "full" });
const lite = buildOf({ id: "lite", net: "lite" });
const other = buildOf({ id: "other", net: "lite" });
const roomy = Number.POSITIVE_INFINITY;
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

/** A pool with one slot that keeps the full build warm, as a server with that default engine has when it is ready. */
async function readyPool(memoryMaxBytes = roomy, options: FakeEnginesOptions = {}, searchesMax?: number) {
  const engines = createFakeEngines({
    memoryBytes: ({ build }) => (build === full ? 500e6 : 130e6),
    ...options,
  });
  const pool = createPool({
    backends: [engines],
    idleMax: 1,
    memoryMaxBytes,
    log: silentLog,
    ...(searchesMax !== undefined && { searchesMax }),
  });
  await pool.keepWarm(full, forever);
  const search = async (build = full) => {
    const session = await pool.acquire(build, forever);
    await session.search(jobOf(), forever);
    pool.release(session);
  };
  const alive = () => engines.sessions.filter((one) => one.alive).map(({ build }) => build.id);
  return { engines, pool, search, alive };
}

describe("the build that is kept warm", () => {
  test("the warm build stays when others are used, though there is one slot", async () => {
    const { engines, search, alive } = await readyPool();
    for (const build of [lite, other, lite]) {
      await search(build);
    }
    await settled();
    expect(alive()).toContain("full");
    expect(engines.sessions.filter(({ build }) => build === full)).toHaveLength(1);
  });

  test("the warm build and another one that callers take turns with are each started once", async () => {
    const { engines, search } = await readyPool();
    for (let turn = 0; turn < 10; turn++) {
      await search(lite);
      await search(full);
      await search(other);
    }
    expect(engines.starts).toBe(3);
  });

  test("the warm build is evicted last when memory is short, after other idle engines", async () => {
    const { search, alive } = await readyPool(700e6);
    await search(lite);
    await search(other);
    await settled();
    expect(alive()).toEqual(["full", "other"]);
  });

  test("the warm build is evicted if memory has no room for both, and is back when the other one is idle", async () => {
    const { engines, pool, search, alive } = await readyPool(600e6);
    const session = await pool.acquire(lite, forever);
    await settled();
    expect(alive()).toEqual(["lite"]);
    await session.search(jobOf(), forever);
    pool.release(session);
    await settled();
    expect(alive()).toEqual(["full"]);
    await search(full);
    expect(engines.starts).toBe(3);
  });

  test.each([
    ["died while it was idle", 1, new EngineFailure("killed", "from outside")],
    ["was closed by somebody", 1, undefined],
  ])("the warm build is started again at once when its engine %s", async (_, count, failure) => {
    const { engines, alive } = await readyPool();
    engines.sessions[0]?.die(failure);
    await settled();
    expect(alive()).toHaveLength(count);
    expect(engines.starts).toBe(2);
  });

  test("the warm build is started again at once when its engine was recycled", async () => {
    const { engines, search, alive } = await readyPool(roomy, {}, 1);
    await search(full);
    await settled();
    expect(engines.starts).toBe(2);
    expect(alive()).toEqual(["full"]);
  });

  test("the warm build has one engine started, also for a caller who comes before it is ready", async () => {
    const gate = Promise.withResolvers<void>();
    const { engines, search } = await readyPool(roomy, {
      starting: (number) => (number === 2 ? gate.promise : undefined),
    });
    engines.sessions[0]?.die();
    await settled();
    const searched = search(full);
    gate.resolve();
    await searched;
    expect(engines.starts).toBe(2);
  });

  test("the warm build keeps its engine for the next caller, if the waiting caller leaves", async () => {
    const gate = Promise.withResolvers<void>();
    const { engines, pool, search } = await readyPool(roomy, {
      starting: (number) => (number === 2 ? gate.promise : undefined),
    });
    engines.sessions[0]?.die();
    await settled();
    const caller = new AbortController();
    const acquired = pool.acquire(full, caller.signal);
    caller.abort(new Error("left"));
    await expect(acquired).rejects.toThrow("left");
    gate.resolve();
    await settled();
    await search(full);
    expect(engines.starts).toBe(2);
  });

  test("the warm build is tried again until it starts, with growing pauses", async () => {
    const failure = new EngineFailure("no_start", "no memory");
    const { engines, alive } = await readyPool(roomy, {
      starting: (number) => (number === 2 || number === 3 ? Promise.reject(failure) : undefined),
    });
    engines.sessions[0]?.die(new EngineFailure("exited", "crashed"));
    await expect.poll(alive).toEqual(["full"]);
    expect(engines.starts).toBe(4);
  });

  test("the warm build is not started again by a closed pool", async () => {
    const { engines, pool } = await readyPool();
    await pool[Symbol.asyncDispose]();
    await settled();
    expect(engines.starts).toBe(1);
  });

  test("the warm build is not started a second time by the retry of a search after a crash", async () => {
    const { engines, pool } = await readyPool(roomy, {
      conduct: (number) => (number === 1 ? "exited" : "answer"),
    });
    const broken = await pool.acquire(full, forever);
    await expect(broken.search(jobOf(), forever)).rejects.toThrow();
    // As the retrying search does.
    pool.release(broken);
    pool.release(await pool.acquire(full, forever));
    await settled();
    expect(engines.starts).toBe(2);
  });
});

test("the pool keeps no more idle engines of a build than allowed, whatever other builds have", async () => {
  const { engines, pool } = await readyPool();
  const acquired = [await pool.acquire(lite, forever), await pool.acquire(lite, forever)];
  acquired.forEach(pool.release);
  await settled();
  expect(engines.sessions.map(({ alive, build }) => [build.id, alive])).toEqual([
    ["full", true],
    ["lite", false],
    ["lite", true],
  ]);
});
