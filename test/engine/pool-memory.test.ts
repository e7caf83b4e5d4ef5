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
    const first = await pool.acquire(lite, forever);
    const second = await pool.acquire(lite, forever);
    pool.release(second);
    pool.release(first);
    await pool.acquire(full, forever);
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ state }) => state)).toEqual(["idle", "dead", "idle"]);
  });

  test("a memory budget counts engines that are still being started", async () => {
    const gate = Promise.withResolvers<void>();
    // Room for three: one is idle, two more come up at the same time, and a fourth.
    const { engines, pool } = poolOf(400e6, {
      starting: (number) => (number > 1 ? gate.promise : undefined),
    });
    pool.release(await pool.acquire(lite, forever));
    const starting = [other, other, other].map((build) => pool.acquire(build, forever));
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
    pool.release(await pool.acquire(lite, forever));
    pool.release(await pool.acquire(other, forever));
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
    expect(engines.starts).toBe(4);
  });

  test("a memory budget never ends an acquired engine, and never refuses to start one", async () => {
    const { engines, pool } = poolOf(100e6);
    await pool.acquire(full, forever);
    await pool.acquire(full, forever);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
  });

  test("a memory budget counts what engines of the build were seen to take, before another one starts", async () => {
    const { engines, pool } = poolOf(900e6, { memoryBytes: () => 200e6 });
    pool.release(await pool.acquire(full, forever));
    pool.release(await pool.acquire(lite, forever));
    await Promise.all([pool.acquire(full, forever), pool.acquire(full, forever)]);
    await new Promise(setImmediate);
    // A second full engine is not taken for the 490 MB that one usually takes.
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true, true]);
  });
});

test("an engine is recycled after many searches", async () => {
  const { engines, pool } = poolOf(1e9, {}, 2);
  const lost: string[] = [];
  pool.changes.on("lost", (_, reason) => lost.push(reason));
  for (let round = 0; round < 4; round++) {
    const session = await pool.acquire(lite, forever);
    await session.search(jobOf(), forever);
    pool.release(session);
  }
  await new Promise(setImmediate);
  expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, false]);
  expect(lost).toEqual(["recycled", "recycled"]);
});

test("an engine that fails is reported to the operator, with its cause", async () => {
  const warn = vi.spyOn(silentLog, "warn");
  onTestFinished(() => warn.mockRestore());
  const { pool } = poolOf(1e9, { conduct: () => "exited" });
  const session = await pool.acquire(lite, forever);
  await expect(session.search(jobOf(), forever)).rejects.toThrow();
  await new Promise(setImmediate);
  expect(warn.mock.calls).toEqual([
    [expect.objectContaining({ engine: "lite", path: "wasm", kind: "exited" }), "engine failed"],
  ]);
});
