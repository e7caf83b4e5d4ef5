import { describe, expect, test } from "vitest";
import { EngineFailure } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { silentLog } from "../../src/log/log.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, type FakeEnginesOptions } from "./fake-engines.ts";
import { jobOf } from "./job-of.ts";

const forever = new AbortController().signal;
const build = buildOf();
const turn = () => new Promise(setImmediate);

const roomy = { memoryMaxBytes: Number.POSITIVE_INFINITY, log: silentLog };

function createFakePool(idleMax = 2, options: FakeEnginesOptions = {}) {
  const engines = createFakeEngines(options);
  return { engines, pool: createPool({ backends: [engines], idleMax, ...roomy }) };
}

describe("an idle engine", () => {
  test("an idle engine is acquired again, and no other is started", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.acquire(build, forever);
    pool.release(first);
    expect(await pool.acquire(build, forever)).toBe(first);
    expect(engines.starts).toBe(1);
  });

  test("the most recently used idle engine is acquired first, because it is the warmest", async () => {
    const { pool } = createFakePool();
    const [first, second] = [await pool.acquire(build, forever), await pool.acquire(build, forever)];
    pool.release(second);
    pool.release(first);
    expect(await pool.acquire(build, forever)).toBe(first);
    expect(await pool.acquire(build, forever)).toBe(second);
  });

  test("an engine that is still in another search is acquired last", async () => {
    const { pool } = createFakePool(2, { conduct: (number) => (number === 1 ? "go on" : "answer") });
    const [left, ready] = [await pool.acquire(build, forever), await pool.acquire(build, forever)];
    const caller = new AbortController();
    const search = left.search(jobOf(), caller.signal);
    caller.abort(new Error("left"));
    await expect(search).rejects.toThrow("left");
    pool.release(ready);
    pool.release(left);
    expect(await pool.acquire(build, forever)).toBe(ready);
    expect(await pool.acquire(build, forever)).toBe(left);
  });

  test("an idle engine is acquired by one caller at a time", async () => {
    const { pool } = createFakePool();
    pool.release(await pool.acquire(build, forever));
    const acquired = await Promise.all([pool.acquire(build, forever), pool.acquire(build, forever)]);
    expect(new Set(acquired).size).toBe(2);
  });

  test("an idle engine of another build is no substitute", async () => {
    const { pool } = createFakePool();
    pool.release(await pool.acquire(build, forever));
    const lite = buildOf({ id: "stockfish-19-lite" });
    expect((await pool.acquire(lite, forever)).build).toBe(lite);
  });

  test("the longest idle engine is closed if more are idle than allowed", async () => {
    const { engines, pool } = createFakePool(2);
    const acquired = [
      await pool.acquire(build, forever),
      await pool.acquire(build, forever),
      await pool.acquire(build, forever),
    ];
    for (const session of acquired) {
      pool.release(session);
    }
    await turn();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, true, true]);
    expect(await pool.acquire(build, forever)).toBe(acquired[2]);
  });

  test("an idle engine that dies is forgotten", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.acquire(build, forever);
    pool.release(first);
    engines.sessions[0]?.die(new EngineFailure("exited", "killed from outside"));
    expect(await pool.acquire(build, forever)).not.toBe(first);
  });

  test("a dead engine takes no place", async () => {
    const { engines, pool } = createFakePool(2);
    const [first, second] = [await pool.acquire(build, forever), await pool.acquire(build, forever)];
    const [diesIdle, diesAcquired] = [await pool.acquire(build, forever), await pool.acquire(build, forever)];
    pool.release(first);
    pool.release(diesIdle);
    engines.sessions[2]?.die();
    engines.sessions[3]?.die();
    await turn();
    pool.release(second);
    pool.release(diesAcquired);
    await turn();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true, false, false]);
  });

  test("an engine that was released dead is not acquired again", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.acquire(build, forever);
    engines.sessions[0]?.die(new EngineFailure("unresponsive", "killed in a search"));
    pool.release(first);
    expect((await pool.acquire(build, forever)).alive).toBe(true);
  });
});

describe("what a build says of itself", () => {
  test("the pool starts one engine to learn its greeting, however often callers ask", async () => {
    const { engines, pool } = createFakePool();
    const infos = await Promise.all([pool.describe(build), pool.describe(build)]);
    infos.push(await pool.describe(build));
    expect(infos.map(({ name }) => name)).toEqual([build.name, build.name, build.name]);
    await turn();
    expect(engines.starts).toBe(1);
    expect(engines.sessions[0]?.alive).toBe(false);
  });

  test("the pool learns the greeting of one build after the other", async () => {
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { engines, pool } = createFakePool(2, { starting: (number) => begun[number - 1]?.promise });
    const infos = [pool.describe(build), pool.describe(buildOf({ id: "other" }))];
    await new Promise(setImmediate);
    expect(engines.starts).toBe(1);
    begun[0]?.resolve();
    await infos[0];
    begun[1]?.resolve();
    await infos[1];
    expect(engines.starts).toBe(2);
  });

  test("the pool starts no engine to learn a greeting if one has run before", async () => {
    const { engines, pool } = createFakePool();
    await pool.acquire(build, forever);
    expect((await pool.describe(build)).name).toBe(build.name);
    expect(engines.starts).toBe(1);
  });

  test("the pool starts no engine to learn a greeting that discovery has learned", async () => {
    const { engines, pool } = createFakePool();
    const info = { name: "Native 1", author: "somebody", options: [], hashMinMb: undefined };
    expect(await pool.describe(buildOf({ info }))).toBe(info);
    expect(engines.starts).toBe(0);
  });

  test("the pool can learn a greeting again after a failure", async () => {
    const failure = new Error("not this time");
    const { engines, pool } = createFakePool(2, {
      starting: (number) => (number === 1 ? Promise.reject(failure) : undefined),
    });
    await expect(pool.describe(build)).rejects.toBe(failure);
    expect((await pool.describe(build)).name).toBe(build.name);
    expect(engines.starts).toBe(2);
  });
});

test("a caller that waits for a start gets an engine that is released before it, and the new one is idle", async () => {
  const gate = Promise.withResolvers<void>();
  const { engines, pool } = createFakePool(2, {
    starting: (number) => (number === 2 ? gate.promise : undefined),
  });
  const first = await pool.acquire(build, forever);
  const second = pool.acquire(build, forever);
  pool.release(first);
  expect(await second).toBe(first);
  gate.resolve();
  await turn();
  expect(await pool.acquire(build, forever)).toBe(engines.sessions[1]);
  expect(engines.starts).toBe(2);
});

describe("starting an engine", () => {
  test("an engine start ends with the abort reason of a caller that leaves", async () => {
    const { engines, pool } = createFakePool(2, { starting: () => new Promise(() => {}) });
    const caller = new AbortController();
    const acquired = pool.acquire(build, caller.signal);
    caller.abort(new Error("left"));
    await expect(acquired).rejects.toThrow("left");
    expect(engines.sessions).toEqual([]);
  });

  test("an engine start fails if no backend has the path", async () => {
    const { pool } = createFakePool();
    await expect(pool.acquire(buildOf({ path: "native" }), forever)).rejects.toThrow("native");
  });
});

describe("closing the pool", () => {
  test("closing the pool ends every engine, idle or acquired, and waits until they are gone", async () => {
    const { engines, pool } = createFakePool();
    const [idle] = [await pool.acquire(build, forever), await pool.acquire(build, forever)];
    pool.release(idle);
    await pool[Symbol.asyncDispose]();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, false]);
  });

  test("closing the pool ends the start of an engine", async () => {
    const { engines, pool } = createFakePool(2, { starting: () => new Promise(() => {}) });
    const starts = [pool.acquire(build, forever), pool.describe(build)];
    const outcomes = Promise.allSettled(starts);
    await pool[Symbol.asyncDispose]();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { message: /closed/ } });
    }
    expect(engines.sessions).toEqual([]);
  });

  // Wherever the start is in its last steps, its engine does not stay.
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    "closing the pool ends an engine that gets ready %i steps before",
    async (steps) => {
      const gate = Promise.withResolvers<void>();
      const { engines, pool } = createFakePool(2, { starting: () => gate.promise });
      const acquired = pool.acquire(build, forever);
      acquired.catch(() => {});
      gate.resolve();
      for (let step = 0; step < steps; step++) {
        await Promise.resolve();
      }
      await pool[Symbol.asyncDispose]();
      expect(engines.sessions.filter(({ alive }) => alive)).toEqual([]);
    },
  );

  test("closing the pool waits for an engine that is ready before its abort arrives", async () => {
    const gate = Promise.withResolvers<void>();
    const engines = createFakeEngines({ starting: () => gate.promise });
    // A backend may be past the point where it listens to its signal.
    const deaf = { ...engines, start: () => engines.start(build, forever) };
    const pool = createPool({ backends: [deaf], idleMax: 2, ...roomy });
    const acquired = pool.acquire(build, forever);
    acquired.catch(() => {});
    const closing = pool[Symbol.asyncDispose]();
    gate.resolve();
    await closing;
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false]);
    await expect(acquired).rejects.toThrow("closed");
  });

  test("a closed pool starts nothing, and keeps no released engine", async () => {
    const { engines, pool } = createFakePool();
    const acquired = await pool.acquire(build, forever);
    await pool[Symbol.asyncDispose]();
    pool.release(acquired);
    await expect(pool.acquire(build, forever)).rejects.toThrow("closed");
    await expect(pool.describe(buildOf())).rejects.toThrow("closed");
    expect(engines.starts).toBe(1);
  });
});
