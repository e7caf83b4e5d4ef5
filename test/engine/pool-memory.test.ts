import { describe, expect, onTestFinished, test, vi } from "vitest";
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

function poolOf(memoryMaxBytes: number, options: FakeEnginesOptions = {}, searchesMax = 10_000) {
  const engines = createFakeEngines({
    memoryBytes: ({ build }) => (build === full ? 500e6 : 130e6),
    ...options,
  });
  const pool = createPool({ backends: [engines], idleMax: 10, memoryMaxBytes, log: silentLog, searchesMax });
  return { engines, pool };
}

describe("a memory budget", () => {
  test("a memory budget retires idle engines, longest idle first, to make room for a needed one", async () => {
    const { engines, pool } = poolOf(700e6);
    const first = await pool.lend(lite, forever);
    const second = await pool.lend(lite, forever);
    pool.giveBack(second);
    pool.giveBack(first);
    await pool.lend(full, forever);
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ state }) => state)).toEqual(["idle", "dead", "idle"]);
  });

  test("a memory budget counts engines that are still being started", async () => {
    const gate = Promise.withResolvers<void>();
    // Room for three: one is idle, two more come up at the same time, and a fourth.
    const { engines, pool } = poolOf(400e6, {
      starting: (number) => (number > 1 ? gate.promise : undefined),
    });
    pool.giveBack(await pool.lend(lite, forever));
    const starting = [other, other, other].map((build) => pool.lend(build, forever));
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false]);
    gate.resolve();
    await Promise.all(starting);
    expect(engines.sessions.map(({ alive, build }) => [build.id, alive])).toEqual([
      ["lite", false],
      ["other", true],
      ["other", true],
      ["other", true],
    ]);
  });

  test("a memory budget forgets engines that did not start", async () => {
    const failure = new EngineFailure("no_start", "no memory");
    const { engines, pool } = poolOf(400e6, {
      starting: (number) => (number === 2 || number === 3 ? Promise.reject(failure) : undefined),
    });
    pool.giveBack(await pool.lend(lite, forever));
    for (let tries = 0; tries < 2; tries++) {
      await expect(pool.lend(other, forever)).rejects.toBe(failure);
    }
    pool.giveBack(await pool.lend(other, forever));
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
  });

  test("a memory budget never ends an acquired engine, and never refuses to start one", async () => {
    const { engines, pool } = poolOf(100e6);
    await pool.lend(full, forever);
    await pool.lend(full, forever);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
  });

  test("a memory budget is kept when an engine is released that has grown", async () => {
    let bytes = 100e6;
    const { engines, pool } = poolOf(350e6, { memoryBytes: () => bytes });
    const [one, two] = [await pool.lend(lite, forever), await pool.lend(lite, forever)];
    pool.giveBack(one);
    bytes = 200e6;
    await two.search(jobOf(), forever);
    pool.giveBack(two);
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ state }) => state)).toEqual(["dead", "idle"]);
  });
});

describe("an engine is replaced", () => {
  test("an engine is recycled after many searches", async () => {
    const { engines, pool } = poolOf(1e9, {}, 2);
    for (let round = 0; round < 300; round++) {
      const session = await pool.lend(lite, forever);
      await session.search(jobOf(), forever);
      pool.giveBack(session);
    }
    expect(engines.starts).toBeGreaterThan(1);
    await new Promise(setImmediate);
    expect(engines.sessions.slice(0, -1).filter(({ alive }) => alive)).toEqual([]);
  });

  test("an engine is recycled when it has grown far beyond its first size", async () => {
    let bytes = 130e6;
    const { engines, pool } = poolOf(1e9, { memoryBytes: () => bytes });
    for (let round = 0; round < 129; round++) {
      const session = await pool.lend(lite, forever);
      await session.search(jobOf(), forever);
      bytes += 10e6;
      pool.giveBack(session);
    }
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false]);
  });
});

test("an engine whose first size is unknown is not taken for one that has grown", async () => {
  let looks = 0;
  const { engines, pool } = poolOf(1e9, { memoryBytes: () => (looks++ < 3 ? undefined : 400e6) });
  for (let round = 0; round < 300; round++) {
    const session = await pool.lend(lite, forever);
    await session.search(jobOf(), forever);
    pool.giveBack(session);
  }
  expect(looks).toBeGreaterThan(3);
  await new Promise(setImmediate);
  expect(engines.sessions.map(({ alive }) => alive)).toEqual([true]);
});

test("an engine that fails is reported to the operator, with its cause", async () => {
  const warn = vi.spyOn(silentLog, "warn");
  onTestFinished(() => warn.mockRestore());
  const { pool } = poolOf(1e9, { conduct: () => "exited" });
  const session = await pool.lend(lite, forever);
  await expect(session.search(jobOf(), forever)).rejects.toThrow();
  await new Promise(setImmediate);
  expect(warn.mock.calls).toEqual([
    [expect.objectContaining({ engine: "lite", path: "wasm", kind: "exited" }), "engine failed"],
  ]);
});
