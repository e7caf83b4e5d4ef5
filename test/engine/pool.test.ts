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
    const first = await pool.lend(build, forever);
    pool.giveBack(first);
    expect(await pool.lend(build, forever)).toBe(first);
    expect(engines.starts).toBe(1);
  });

  test("the most recently used idle engine is acquired first, because it is the warmest", async () => {
    const { pool } = createFakePool();
    const [first, second] = [await pool.lend(build, forever), await pool.lend(build, forever)];
    pool.giveBack(second);
    pool.giveBack(first);
    expect(await pool.lend(build, forever)).toBe(first);
    expect(await pool.lend(build, forever)).toBe(second);
  });

  test("an idle engine with the right hash table is acquired before warmer ones, and any before a new start", async () => {
    const { engines, pool } = createFakePool(3);
    const all = await Promise.all([1, 4, 16].map((hashMb) => pool.lend(build, forever, hashMb)));
    for (const [at, hashMb] of [1, 4, 16].entries()) {
      await all[at]?.search(jobOf({ hashMb }), forever);
    }
    all.forEach(pool.giveBack);
    expect(await pool.lend(build, forever, 1)).toBe(all[0]);
    expect(await pool.lend(build, forever, 1)).toBe(all[2]);
    expect(await pool.lend(build, forever, 16)).toBe(all[1]);
    expect(engines.starts).toBe(3);
  });

  test("an engine that is still in another search is acquired last", async () => {
    const { pool } = createFakePool(2, { conduct: (number) => (number === 1 ? "go on" : "answer") });
    const [left, ready] = [await pool.lend(build, forever), await pool.lend(build, forever)];
    const caller = new AbortController();
    const search = left.search(jobOf(), caller.signal);
    caller.abort(new Error("left"));
    await expect(search).rejects.toThrow("left");
    pool.giveBack(ready);
    pool.giveBack(left);
    expect(await pool.lend(build, forever)).toBe(ready);
    expect(await pool.lend(build, forever)).toBe(left);
  });

  test("an idle engine is acquired by one caller at a time", async () => {
    const { pool } = createFakePool();
    pool.giveBack(await pool.lend(build, forever));
    const lent = await Promise.all([pool.lend(build, forever), pool.lend(build, forever)]);
    expect(new Set(lent).size).toBe(2);
  });

  test("an idle engine of another build is no substitute", async () => {
    const { pool } = createFakePool();
    pool.giveBack(await pool.lend(build, forever));
    const lite = buildOf({ id: "stockfish-19-lite" });
    expect((await pool.lend(lite, forever)).build).toBe(lite);
  });

  test("the longest idle engine is closed if more are idle than allowed", async () => {
    const { engines, pool } = createFakePool(2);
    const lent = [
      await pool.lend(build, forever),
      await pool.lend(build, forever),
      await pool.lend(build, forever),
    ];
    for (const session of lent) {
      pool.giveBack(session);
    }
    await turn();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, true, true]);
    expect(await pool.lend(build, forever)).toBe(lent[2]);
  });

  test("an idle engine that dies is forgotten", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.lend(build, forever);
    pool.giveBack(first);
    engines.sessions[0]?.die(new EngineFailure("exited", "killed from outside"));
    expect(await pool.lend(build, forever)).not.toBe(first);
  });

  test("a dead engine takes no place", async () => {
    const { engines, pool } = createFakePool(2);
    const [first, second] = [await pool.lend(build, forever), await pool.lend(build, forever)];
    const [diesIdle, diesLent] = [await pool.lend(build, forever), await pool.lend(build, forever)];
    pool.giveBack(first);
    pool.giveBack(diesIdle);
    engines.sessions[2]?.die();
    engines.sessions[3]?.die();
    await turn();
    pool.giveBack(second);
    pool.giveBack(diesLent);
    await turn();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true, false, false]);
  });

  test("an engine that was released dead is not acquired again", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.lend(build, forever);
    engines.sessions[0]?.die(new EngineFailure("deaf", "killed in a search"));
    pool.giveBack(first);
    expect((await pool.lend(build, forever)).alive).toBe(true);
  });
});

describe("what a build says of itself", () => {
  test("the pool starts one engine to learn its greeting, however often callers ask", async () => {
    const { engines, pool } = createFakePool();
    const infos = await Promise.all([pool.describe(build), pool.describe(build)]);
    infos.push(await pool.describe(build));
    expect(infos.map(({ name }) => name)).toEqual([build.name, build.name, build.name]);
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
    await pool.lend(build, forever);
    expect((await pool.describe(build)).name).toBe(build.name);
    expect(engines.starts).toBe(1);
  });

  test("the pool can learn a greeting again after a failure", async () => {
    const failure = new EngineFailure("no_start", "not this time");
    const { engines, pool } = createFakePool(2, {
      starting: (number) => (number === 1 ? Promise.reject(failure) : undefined),
    });
    await expect(pool.describe(build)).rejects.toBe(failure);
    expect((await pool.describe(build)).name).toBe(build.name);
    expect(engines.starts).toBe(2);
  });
});

describe("starting an engine", () => {
  test("an engine start ends with the abort reason of a caller that leaves", async () => {
    const { engines, pool } = createFakePool(2, { starting: () => new Promise(() => {}) });
    const caller = new AbortController();
    const lent = pool.lend(build, caller.signal);
    caller.abort(new Error("left"));
    await expect(lent).rejects.toThrow("left");
    expect(engines.sessions).toEqual([]);
  });

  test("an engine start fails if no backend has the path", async () => {
    const { pool } = createFakePool();
    await expect(pool.lend(buildOf({ path: "native" }), forever)).rejects.toThrow("native");
  });
});

describe("closing the pool", () => {
  test("closing the pool ends every engine, idle or acquired, and waits until they are gone", async () => {
    const { engines, pool } = createFakePool();
    const [idle] = [await pool.lend(build, forever), await pool.lend(build, forever)];
    pool.giveBack(idle);
    await pool[Symbol.asyncDispose]();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, false]);
  });

  test("closing the pool ends the start of an engine", async () => {
    const { engines, pool } = createFakePool(2, { starting: () => new Promise(() => {}) });
    const starts = [pool.lend(build, forever), pool.describe(build)];
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
      const lent = pool.lend(build, forever);
      lent.catch(() => {});
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
    const lent = pool.lend(build, forever);
    lent.catch(() => {});
    const closing = pool[Symbol.asyncDispose]();
    gate.resolve();
    await closing;
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false]);
    await expect(lent).rejects.toThrow("closed");
  });

  test("a closed pool starts nothing, and keeps no released engine", async () => {
    const { engines, pool } = createFakePool();
    const lent = await pool.lend(build, forever);
    await pool[Symbol.asyncDispose]();
    pool.giveBack(lent);
    await expect(pool.lend(build, forever)).rejects.toThrow("closed");
    await expect(pool.describe(buildOf())).rejects.toThrow("closed");
    expect(engines.starts).toBe(1);
  });
});
