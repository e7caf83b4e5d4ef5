import { getEventListeners } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EngineBackend } from "../../../src/engine/engine.ts";
import { createPool } from "../../../src/engine/pool.ts";
import { createSearchWithRetry, type SearchWithRetry } from "../../../src/engine/search-with-retry.ts";
import { createUciSession } from "../../../src/engine/uci/session.ts";
import type { ProcessEnd, UciTransport } from "../../../src/engine/uci/transport.ts";
import { defaultWatchTimes } from "../../../src/engine/uci/watch.ts";
import { silentLog } from "../../../src/log/log.ts";
import { buildOf } from "../../engine/build-of.ts";
import { jobOf } from "../../engine/job-of.ts";
import { greeting } from "../../engine/scripted-session.ts";
import { collectedHeapBytes, oldBytesEach } from "../../support/heap.ts";

/** Creates an engine that answers immediately. A search to depth 99 runs until the engine receives `stop`. */
function createObedient(): UciTransport {
  const states = Array.from({ length: 20 }, (_, at) => `info depth ${at + 1} score cp 1 time 1 pv e2e4 e7e5`);
  let receive: (line: string) => void = () => {};
  const gone = Promise.withResolvers<ProcessEnd>();
  const answerTo = (line: string): readonly string[] => {
    switch (line.startsWith("go") ? "go" : line) {
      case "uci":
        return greeting;
      case "isready":
        return ["readyok"];
      case "go":
        return line.startsWith("go depth 99") ? states : [...states, "bestmove e2e4"];
      case "stop":
        return [...states, "bestmove e2e4"];
      default:
        return [];
    }
  };
  return {
    async read(receiveLine) {
      receive = receiveLine;
      await gone.promise;
    },
    send(...lines) {
      const said = lines.flatMap(answerTo);
      queueMicrotask(() => said.forEach(receive));
    },
    async kill() {
      gone.resolve("outside");
    },
    ended: gone.promise,
    memoryBytes: () => undefined,
    processorMs: () => undefined,
  };
}

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => {
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const build = buildOf();
const job = jobOf();
const endless = jobOf({ depth: 99 });

/**
 * Runs five searches: three are answered, one is cancelled while it runs, and one is cancelled at its start.
 * Does not use `expect`, because vitest keeps every `expect` call in memory.
 */
async function searchInEveryWay(search: SearchWithRetry, signal: AbortSignal): Promise<void> {
  await search(build, job, signal);
  await search(build, job, signal);
  await new Promise(setImmediate);
  await search(build, job, signal);
  const caller = new AbortController();
  const broken = search(build, endless, AbortSignal.any([signal, caller.signal]), () => caller.abort());
  await broken.catch(() => {});
  const hasty = new AbortController();
  const lost = search(build, endless, hasty.signal);
  queueMicrotask(() => hasty.abort());
  await lost.catch(() => {});
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

function createObedientPool() {
  const backend: EngineBackend = {
    path: "wasm",
    discover: async () => [build],
    start: async ({ settings }, signal) =>
      createUciSession(settings, createObedient(), defaultWatchTimes, signal),
  };
  return createPool({
    start: backend.start,
    memoryMaxBytes: Number.POSITIVE_INFINITY,
    log: silentLog,
  });
}

/** Returns how much the heap and the numbers of listeners and timers grow when `once` is repeated, after a warm-up. */
async function growthOf(once: (signal: AbortSignal) => Promise<void>, times: number) {
  // A signal that lives as long as the process, like a server's.
  const { signal } = new AbortController();
  const repeat = async (count: number) => {
    for (let at = 0; at < count; at++) {
      await once(signal);
    }
    await new Promise(setImmediate);
  };
  const timersBefore = timers();
  await repeat(times / 2);
  const before = await collectedHeapBytes();
  await repeat(times);
  return {
    heapBytes: (await collectedHeapBytes()) - before,
    listeners: getEventListeners(signal, "abort").length,
    timers: timers() - timersBefore,
  };
}

test("thousands of finished searches leave no event listeners and no timers, and memory does not grow", async () => {
  await using pool = createObedientPool();
  const search = createSearchWithRetry(pool, silentLog);
  const growth = await growthOf((signal) => searchInEveryWay(search, signal), 800);
  // A leak of one promise for each search would exceed this limit.
  expect(growth.heapBytes).toBeLessThan(300_000);
  expect(growth.listeners).toBe(0);
  expect(growth.timers).toBeLessThanOrEqual(0);
});

test("a finished search does not keep later searches in memory", async () => {
  await using pool = createObedientPool();
  const search = createSearchWithRetry(pool, silentLog);
  const { signal } = new AbortController();
  const bytes = await oldBytesEach(async (times) => {
    for (let at = 0; at < times; at++) {
      await search(build, job, signal);
      await new Promise(setImmediate);
    }
  });
  expect(bytes).toBeLessThan(1500);
});

test("hundreds of stopped engines leave no event listeners and no timers, and memory does not grow", async () => {
  await using pool = createObedientPool();
  const growth = await growthOf(async (signal) => {
    await using _session = await pool.acquire(build, signal);
  }, 400);
  expect(growth.heapBytes).toBeLessThan(300_000);
  expect(growth.listeners).toBe(0);
  expect(growth.timers).toBeLessThanOrEqual(0);
});
