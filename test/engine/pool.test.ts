import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EngineFailure } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { silentLog } from "../../src/log/log.ts";
import { useTurnedClock } from "../support/turned-clock.ts";
import { buildOf, launchOf } from "./build-of.ts";
import { createFakeEngines, type FakeEnginesOptions } from "./fake-engines.ts";
import { jobOf } from "./job-of.ts";

const forever = new AbortController().signal;
const full = buildOf({ id: "full", net: "full" });
const lite = buildOf({ id: "lite", net: "lite" });
const other = buildOf({ id: "other", net: "lite" });
const build = full;
const roomy = Number.POSITIVE_INFINITY;
const failure = new EngineFailure("no_start", "no memory");
const turnMs = useTurnedClock();
const turn = () => new Promise(setImmediate);
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

function createFakePool(options: FakeEnginesOptions = {}, memoryMaxBytes = roomy) {
  const engines = createFakeEngines({
    memoryBytes: ({ build }) => (build === full ? 500e6 : 130e6),
    ...options,
  });
  return { engines, pool: createPool({ start: engines.start, memoryMaxBytes, log: silentLog }) };
}

/** Returns a pool whose default build is the full build. One engine of this build is running. */
async function readyPool(memoryMaxBytes = roomy, options: FakeEnginesOptions = {}) {
  const { engines, pool } = createFakePool(options, memoryMaxBytes);
  await pool.keepWarm(full, forever);
  const search = async (build = full) => {
    const session = await pool.acquire(build, forever);
    await session.search(jobOf(), forever);
    pool.release(session);
  };
  const alive = () => engines.sessions.filter((one) => one.alive).map(({ build }) => build.id);
  return { engines, pool, search, alive };
}

describe("an idle engine", () => {
  test("an idle engine is used again instead of a new engine", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.acquire(build, forever);
    pool.release(first);
    expect(await pool.acquire(build, forever)).toBe(first);
    expect(engines.starts).toBe(1);
  });

  test("the engine with the longest idle time is used first", async () => {
    const { pool } = createFakePool();
    const [first, second] = [await pool.acquire(build, forever), await pool.acquire(build, forever)];
    pool.release(second);
    pool.release(first);
    expect(await pool.acquire(build, forever)).toBe(second);
    expect(await pool.acquire(build, forever)).toBe(first);
  });

  test("an idle engine of another build is not used", async () => {
    const { pool } = createFakePool();
    pool.release(await pool.acquire(build, forever));
    expect(await pool.acquire(lite, forever)).toMatchObject({ build: lite });
  });

  test("an idle engine that dies is removed from the pool", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.acquire(build, forever);
    pool.release(first);
    engines.sessions[0]?.die(new EngineFailure("exited", "killed from outside"));
    expect(await pool.acquire(build, forever)).not.toBe(first);
  });

  test("a released engine that has died is not used again", async () => {
    const { engines, pool } = createFakePool();
    const first = await pool.acquire(build, forever);
    engines.sessions[0]?.die(new EngineFailure("unresponsive", "killed in a search"));
    pool.release(first);
    expect((await pool.acquire(build, forever)).alive).toBe(true);
  });
});

test("a client that waits for an engine start gets an engine that is released earlier", async () => {
  const gate = Promise.withResolvers<void>();
  const { engines, pool } = createFakePool({
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

describe("a described engine", () => {
  const described = buildOf({ id: "described", launch: launchOf({ instances: 2, memoryMb: 300 }) });

  test("no more engines are started than instances are allowed, and further requests wait", async () => {
    const { engines, pool } = createFakePool();
    const [first] = [await pool.acquire(described, forever), await pool.acquire(described, forever)];
    expect(pool.hasRoom(described)).toBe(false);
    const third = pool.acquire(described, forever);
    await settled();
    expect(engines.starts).toBe(2);
    pool.release(first);
    expect(await third).toBe(first);
  });

  test("an engine counts with its described memory before the system reports its memory", async () => {
    const { pool } = createFakePool({ memoryBytes: () => undefined }, 500e6);
    await pool.acquire(described, forever);
    expect(pool.hasRoom(described)).toBe(false);
    expect(pool.status(described).memoryBytes).toBe(300e6);
  });

  test("an engine that was left out is not available", () => {
    const { pool } = createFakePool();
    expect(pool.available(buildOf({ unavailableReason: "It is gone." }))).toBe(false);
  });
});

describe("starting an engine", () => {
  test("a request that is aborted during an engine start rejects with its own abort reason", async () => {
    const { engines, pool } = createFakePool({ starting: () => new Promise(() => {}) });
    const caller = new AbortController();
    const acquired = pool.acquire(build, caller.signal);
    caller.abort(new Error("left"));
    await expect(acquired).rejects.toThrow("left");
    expect(engines.sessions).toEqual([]);
  });
});

/** Requests engines at the same time. Returns an engine or an error for each request. */
const acquireMany = (pool: ReturnType<typeof createFakePool>["pool"], count: number) =>
  Array.from({ length: count }, () => pool.acquire(build, forever).catch((error) => error));

test("engines of simultaneous requests start in parallel", async () => {
  const gate = Promise.withResolvers<void>();
  const { engines, pool } = createFakePool({ starting: () => gate.promise });
  const acquired = acquireMany(pool, 8);
  await turn();
  expect(engines.starts).toBe(8);
  gate.resolve();
  await Promise.all(acquired);
});

test("engine starts that fail at the same time are retried once, and every waiting client gets an engine", async () => {
  const { engines, pool } = createFakePool({
    starting: (number) => (number <= 8 ? Promise.reject(failure) : undefined),
  });
  const acquired = await Promise.all(acquireMany(pool, 8));
  expect(new Set(acquired)).toEqual(new Set(engines.sessions));
  expect(engines.starts).toBe(16);
});

test("if a client disconnects during an engine start, the start continues for the next client of the same build", async () => {
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
  expect(await pool.acquire(build, forever)).not.toBe(acquired);
  expect(engines.starts).toBe(2);
});

test("if an engine start fails after its client has disconnected, other clients are not affected", async () => {
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
  /** Returns a pool whose engine starts fail until `repair` is called. */
  function createBrokenPool() {
    let broken = true;
    const { engines, pool } = createFakePool({
      starting: () => (broken ? Promise.reject(failure) : undefined),
    });
    const changes: boolean[] = [];
    pool.changes.on("change", (changed) => changes.push(pool.available(changed)));
    const repair = () => {
      broken = false;
    };
    return { engines, pool, changes, repair };
  }
  const fail = (pool: ReturnType<typeof createFakePool>["pool"]) =>
    expect(pool.acquire(build, forever)).rejects.toBe(failure);

  test("a build is unavailable after three failed starts in a row, but other builds stay available", async () => {
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

  test("a request for an unavailable build fails at once with a retry time", async () => {
    const { engines, pool } = createBrokenPool();
    await fail(pool);
    const { starts } = engines;
    await expect(pool.acquire(build, forever)).rejects.toMatchObject({
      kind: "no_start",
      retryAfterMs: 1600,
    });
    expect(engines.starts).toBe(starts);
    await pool[Symbol.asyncDispose]();
  });

  test("an unavailable build is started again even if no client waits, and the started engine is idle", async () => {
    const { engines, pool, changes, repair } = createBrokenPool();
    await fail(pool);
    repair();
    await expect.poll(() => pool.available(build)).toBe(true);
    expect(changes).toEqual([false, true]);
    await expect.poll(() => engines.sessions.length).toBe(1);
    const { starts } = engines;
    await pool.acquire(build, forever);
    expect(engines.starts).toBe(starts);
    await pool[Symbol.asyncDispose]();
  });

  test.each([
    ["is busy", false],
    ["is idle", true],
  ])("an unavailable build is started again while one of its engines %s", async (_, isIdle) => {
    let broken = false;
    const { engines, pool } = createFakePool(
      { starting: () => (broken ? Promise.reject(failure) : undefined) },
      100e6,
    );
    const living = await pool.acquire(build, forever);
    broken = true;
    await fail(pool);
    expect(pool.available(build)).toBe(false);
    if (isIdle) {
      pool.release(living);
    }
    broken = false;
    await expect.poll(() => pool.available(build)).toBe(true);
    // The engine that works is not stopped for the new engine, although both together exceed the memory limit.
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
    await pool[Symbol.asyncDispose]();
  });

  test("the log says once that a build is unavailable, and once that the build is available again", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const lines: string[] = [];
    for (const level of ["info", "warn"] as const) {
      const spy = vi.spyOn(silentLog, level);
      spy.mockImplementation(({ engine, path }, message) => {
        lines.push(`${level}: ${message} (${engine}, ${path})`);
      });
      onTestFinished(() => spy.mockRestore());
    }
    const { pool, repair } = createBrokenPool();
    const refused = fail(pool);
    await vi.advanceTimersByTimeAsync(1000);
    await refused;
    const failed = "warn: engine could not be started (full, wasm)";
    const unavailable = "warn: engine is unavailable (full, wasm)";
    expect(lines).toEqual([failed, failed, failed, unavailable]);
    repair();
    await vi.advanceTimersByTimeAsync(2000);
    expect(lines.slice(4)).toEqual(["info: engine is available again (full, wasm)"]);
  });

  test("the pauses between the starts of an unavailable build are at most 10 s", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { engines, pool } = createFakePool({ starting: () => Promise.reject(failure) });
    const acquired = fail(pool);
    await vi.advanceTimersByTimeAsync(60_000);
    await acquired;
    const { starts } = engines;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(engines.starts).toBe(starts + 6);
    await pool[Symbol.asyncDispose]();
  });

  test("an engine that fails again and again before its first search is replaced after a pause that grows", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { engines, pool } = createFakePool();
    await pool.keepWarm(build, forever);
    const flood = () =>
      engines.sessions
        .at(-1)
        ?.die(new EngineFailure("flooded", "the engine prints more than the output limit"));
    const startsIn = async (ms: number) => {
      const before = engines.starts;
      for (let passed = 0; passed < ms; passed += 10) {
        flood();
        await vi.advanceTimersByTimeAsync(10);
      }
      return engines.starts - before;
    };
    expect(await startsIn(60_000)).toBeLessThan(12);
    // The engine works again. After a search, the next failure is the first of a row.
    await vi.advanceTimersByTimeAsync(20_000);
    const session = await pool.acquire(build, forever);
    await session.search(jobOf(), forever);
    pool.release(session);
    expect(await startsIn(1000)).toBeGreaterThan(1);
    await pool[Symbol.asyncDispose]();
  });

  test("if an engine fails again before its first search, no engine starts until the failure is reported", async () => {
    const exit = Promise.withResolvers<void>();
    let exiting: Promise<void> = Promise.resolve();
    const { engines, pool } = createFakePool({ exiting: () => exiting });
    await pool.keepWarm(build, forever);
    const flooded = new EngineFailure("flooded", "the engine prints more than the output limit");
    const running = () => engines.sessions.filter((session) => session.build === build && session.alive);
    running()[0]?.die(flooded);
    await expect.poll(() => [running().length, pool.status(build).states]).toEqual([1, ["idle"]]);
    exiting = exit.promise;
    running()[0]?.die(flooded);
    // The end of a search of another build starts missing engines.
    pool.release(await pool.acquire(other, forever));
    await turn();
    expect(running()).toEqual([]);
    exit.resolve();
    await expect.poll(running).toHaveLength(1);
    await pool[Symbol.asyncDispose]();
  });

  /** Rejects as a file of an engine that cannot be opened. */
  const openFile = () => open(join(import.meta.filename, "file")).then(() => {});

  test("a start that fails for a reason of the system is retried, and the waiting client gets an engine", async () => {
    const { engines, pool } = createFakePool({
      starting: (number) => (number <= 2 ? openFile() : undefined),
    });
    expect(await pool.acquire(build, forever)).toBe(engines.sessions[0]);
    expect(engines.starts).toBe(3);
  });

  test("if every start fails for a reason of the system, the client gets no_start with the reason", async () => {
    const { pool } = createFakePool({ starting: openFile });
    await expect(pool.acquire(build, forever)).rejects.toMatchObject({
      kind: "no_start",
      message: expect.stringContaining("ENOTDIR"),
      cause: { code: "ENOTDIR" },
    });
    await pool[Symbol.asyncDispose]();
  });

  test("no other engine is stopped for a build whose file is missing", async () => {
    const { engines, pool } = createFakePool({}, 100e6);
    pool.release(await pool.acquire(full, forever));
    const missing = buildOf({ id: "missing", assertUnchanged: () => Promise.reject(failure) });
    await expect(pool.acquire(missing, forever)).rejects.toBe(failure);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true]);
    await pool[Symbol.asyncDispose]();
  });

  test("the pool can close while a build is unavailable", async () => {
    const { engines, pool } = createBrokenPool();
    await fail(pool);
    const { starts } = engines;
    await pool[Symbol.asyncDispose]();
    await turn();
    expect(engines.starts).toBe(starts);
  });
});

test("an engine whose file is not genuine is stopped before a client gets the engine", async () => {
  const { engines, pool } = createFakePool();
  const replaced = new EngineFailure("no_start", "something else");
  const forged = buildOf({ assertGenuine: () => Promise.reject(replaced) });
  await expect(pool.acquire(forged, forever)).rejects.toBe(replaced);
  expect(engines.sessions.length).toBeGreaterThan(0);
  expect(engines.sessions.filter(({ alive }) => alive)).toEqual([]);
  await pool[Symbol.asyncDispose]();
});

describe("the default build", () => {
  test("the default build keeps running when other builds are used", async () => {
    const { engines, search, alive } = await readyPool();
    for (const build of [lite, other, lite]) {
      await search(build);
    }
    await settled();
    expect(alive()).toContain("full");
    expect(engines.sessions.filter(({ build }) => build === full)).toHaveLength(1);
  });

  test("the default build and another build are each started only once when clients alternate between the builds", async () => {
    const { engines, search } = await readyPool();
    for (let turn = 0; turn < 10; turn++) {
      await search(lite);
      await search(full);
      await search(other);
    }
    expect(engines.starts).toBe(3);
  });

  test("the default build is stopped after other idle engines when memory is low", async () => {
    const { search, alive } = await readyPool(700e6);
    await search(lite);
    await search(other);
    await settled();
    expect(alive()).toEqual(["full", "other"]);
  });

  test("the default build is stopped if memory is too low for two engines, and is started again when the other engine has been idle for 5 s", async () => {
    const { engines, pool, search, alive } = await readyPool(600e6);
    const session = await pool.acquire(lite, forever);
    await settled();
    expect(alive()).toEqual(["lite"]);
    await session.search(jobOf(), forever);
    turnMs(6000);
    pool.release(session);
    turnMs(1000);
    // The pool starts missing engines every second. A busy machine may take longer for this wait.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(alive()).toEqual(["lite"]);
    turnMs(4000);
    await expect.poll(alive).toEqual(["full"]);
    await search(full);
    expect(engines.starts).toBe(3);
  });

  test("a client that searches on another build again and again needs only one start of an engine, even if memory is too low for two engines", async () => {
    const { engines, search, alive } = await readyPool(600e6);
    for (let round = 0; round < 10; round++) {
      await search(lite);
      await turn();
      turnMs(1000);
    }
    expect(alive()).toEqual(["lite"]);
    expect(engines.starts).toBe(2);
  });

  test("a client of the default build does not wait until the engine of another build has been idle for 5 s", async () => {
    const { search, alive } = await readyPool(600e6);
    await search(lite);
    await search(full);
    await settled();
    expect(alive()).toEqual(["full"]);
  });

  test("the default build is started again even if the system does not report the end of its killed process", async () => {
    const { engines, alive } = await readyPool(roomy, { exiting: () => new Promise(() => {}) });
    engines.sessions[0]?.die(new EngineFailure("unresponsive", "killed"));
    expect(alive()).toEqual([]);
    await expect.poll(alive).toEqual(["full"]);
    expect(engines.starts).toBe(2);
  });

  test.each([
    ["dies while it is idle", 1, new EngineFailure("killed", "from outside")],
    ["is closed", 1, undefined],
  ])("the default build is started again at once when its engine %s", async (_, count, failure) => {
    const { engines, alive } = await readyPool();
    engines.sessions[0]?.die(failure);
    await settled();
    expect(alive()).toHaveLength(count);
    expect(engines.starts).toBe(2);
  });

  test("the default build starts only one engine, even for a client that waits for the start", async () => {
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

  test("the default build keeps its new engine if the waiting client disconnects", async () => {
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

  test("the start of the default build is retried after growing pauses", async () => {
    const { engines, alive } = await readyPool(roomy, {
      starting: (number) => (number === 2 || number === 3 ? Promise.reject(failure) : undefined),
    });
    engines.sessions[0]?.die(new EngineFailure("exited", "crashed"));
    await expect.poll(alive).toEqual(["full"]);
    expect(engines.starts).toBe(4);
  });

  test("the retry of a search after a crash starts only one engine of the default build", async () => {
    const { engines, pool } = await readyPool(roomy, {
      conduct: (number) => (number === 1 ? "exited" : "answer"),
    });
    const broken = await pool.acquire(full, forever);
    await expect(broken.search(jobOf(), forever)).rejects.toMatchObject({ kind: "exited" });
    // The retry of a search also releases the broken engine and acquires a new engine.
    pool.release(broken);
    pool.release(await pool.acquire(full, forever));
    await settled();
    expect(engines.starts).toBe(2);
  });
});

describe("a memory limit", () => {
  test("if memory is short, the engines with the longest idle time are stopped, so that a requested engine can start", async () => {
    const { engines, pool } = createFakePool({}, 700e6);
    const first = await pool.acquire(lite, forever);
    const second = await pool.acquire(lite, forever);
    pool.release(second);
    pool.release(first);
    await pool.acquire(full, forever);
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ state }) => state)).toEqual(["idle", "ended", "idle"]);
  });

  test("the memory limit includes engines that are being started", async () => {
    const gate = Promise.withResolvers<void>();
    // The memory is enough for three engines: one idle engine and two engines that start now. Then a fourth engine is
    // requested.
    const { engines, pool } = createFakePool(
      {
        starting: (number) => (number > 1 ? gate.promise : undefined),
      },
      400e6,
    );
    pool.release(await pool.acquire(lite, forever));
    const starting = [other, other, other].map((build) => pool.acquire(build, forever));
    await expect.poll(() => engines.sessions.map(({ alive }) => alive)).toEqual([false]);
    gate.resolve();
    await Promise.all(starting);
    expect(engines.sessions.map(({ alive, build }) => [build.id, alive])).toEqual([
      ["lite", false],
      ["other", true],
      ["other", true],
      ["other", true],
    ]);
  });

  test("the memory limit does not include engines whose start failed", async () => {
    const { engines, pool } = createFakePool(
      {
        starting: (number) => (number === 2 || number === 3 ? Promise.reject(failure) : undefined),
      },
      400e6,
    );
    pool.release(await pool.acquire(lite, forever));
    pool.release(await pool.acquire(other, forever));
    await new Promise(setImmediate);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
    expect(engines.starts).toBe(4);
  });

  test("the memory limit never stops an engine in use and never prevents a start", async () => {
    const { engines, pool } = createFakePool({}, 100e6);
    await pool.acquire(full, forever);
    await pool.acquire(full, forever);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
  });

  test("engines that exceeded the memory limit because they searched at the same time are stopped when they have been idle for 5 s", async () => {
    const { pool, alive } = await readyPool(600e6);
    const sessions = [await pool.acquire(full, forever), await pool.acquire(lite, forever)];
    sessions.push(await pool.acquire(full, forever));
    sessions.forEach(pool.release);
    await settled();
    expect(alive()).toEqual(["full", "lite", "full"]);
    turnMs(6000);
    await expect.poll(alive).toEqual(["full"]);
    turnMs(6000);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(alive()).toEqual(["full"]);
    await pool[Symbol.asyncDispose]();
  });

  test("the memory limit assumes that a new engine needs as much memory as the running engines of the same build", async () => {
    const { engines, pool } = createFakePool({ memoryBytes: () => 200e6 }, 900e6);
    pool.release(await pool.acquire(full, forever));
    pool.release(await pool.acquire(lite, forever));
    await Promise.all([pool.acquire(full, forever), pool.acquire(full, forever)]);
    await new Promise(setImmediate);
    // The pool must expect the measured memory of the running engine, and not the usual 540 MB.
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true, true]);
  });
});

test("the log contains every engine failure with its cause", async () => {
  const warn = vi.spyOn(silentLog, "warn");
  onTestFinished(() => warn.mockRestore());
  const { pool } = createFakePool({ conduct: () => "exited" }, 1e9);
  const session = await pool.acquire(lite, forever);
  await expect(session.search(jobOf(), forever)).rejects.toMatchObject({ kind: "exited" });
  await new Promise(setImmediate);
  expect(warn.mock.calls).toEqual([
    [expect.objectContaining({ engine: "lite", path: "wasm", kind: "exited" }), "engine failed"],
  ]);
});

describe("closing the pool", () => {
  test("closing the pool stops all engines and waits until their processes have ended", async () => {
    const { engines, pool } = createFakePool();
    const [idle] = [await pool.acquire(build, forever), await pool.acquire(build, forever)];
    pool.release(idle);
    await pool[Symbol.asyncDispose]();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, false]);
  });

  test("closing the pool aborts the start of an engine", async () => {
    const { engines, pool } = createFakePool({ starting: () => new Promise(() => {}) });
    const starts = [pool.acquire(build, forever), pool.keepWarm(lite, forever)];
    const outcomes = Promise.allSettled(starts);
    await pool[Symbol.asyncDispose]();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { message: /closed/ } });
    }
    expect(engines.sessions).toEqual([]);
  });

  // Each round closes the pool in another of the last steps of the start.
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    "closing the pool stops an engine that became ready %i event-loop steps earlier",
    async (steps) => {
      const gate = Promise.withResolvers<void>();
      const { engines, pool } = createFakePool({ starting: () => gate.promise });
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

  test("closing the pool stops an engine whose start ignores the abort", async () => {
    const gate = Promise.withResolvers<void>();
    const engines = createFakeEngines({ starting: () => gate.promise });
    // A backend may ignore the abort signal after its last check of the signal.
    const late = { ...engines, start: () => engines.start(build, forever) };
    const pool = createPool({ start: late.start, memoryMaxBytes: roomy, log: silentLog });
    const acquired = pool.acquire(build, forever);
    acquired.catch(() => {});
    await turn();
    const closing = pool[Symbol.asyncDispose]();
    gate.resolve();
    await closing;
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false]);
    await expect(acquired).rejects.toThrow("closed");
  });

  test("a closed pool starts no engine and stops every released engine", async () => {
    const { engines, pool } = createFakePool();
    const acquired = await pool.acquire(build, forever);
    await pool[Symbol.asyncDispose]();
    pool.release(acquired);
    await expect(pool.acquire(build, forever)).rejects.toThrow("closed");
    expect(engines.starts).toBe(1);
  });

  test("closing the pool also waits for the end of an engine that was just stopped", async () => {
    const { engines, pool } = createFakePool({}, 200e6);
    pool.release(await pool.acquire(lite, forever));
    await pool.acquire(other, forever);
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([true, true]);
    await pool[Symbol.asyncDispose]();
    expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, false]);
  });
});
