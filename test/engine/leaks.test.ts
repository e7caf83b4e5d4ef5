import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EngineBackend } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { createSupervisor, type Supervisor } from "../../src/engine/supervisor.ts";
import { createUciSession } from "../../src/engine/uci/session.ts";
import type { UciTransport } from "../../src/engine/uci/transport.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch-times.ts";
import { silentLog } from "../../src/log.ts";
import { buildOf } from "./build-of.ts";
import { answerOf, jobOf } from "./job-of.ts";
import { greeting } from "./scripted-session.ts";

/** An engine that answers at once, except when it is to search to depth 99: then it waits for `stop`. */
function createObedient(): UciTransport {
  const states = Array.from({ length: 20 }, (_, at) => `info depth ${at + 1} score cp 1 time 1 pv e2e4 e7e5`);
  const queue: string[] = [];
  let ended = false;
  let wake = () => {};
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
    lines: {
      async *[Symbol.asyncIterator]() {
        while (!ended) {
          yield* queue.splice(0);
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
    },
    send(line) {
      queue.push(...answerTo(line));
      wake();
    },
    async kill() {
      ended = true;
      wake();
    },
    suspended: () => false,
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

/** A search that is answered, one that is broken off, one whose caller leaves. */
async function searchInEveryWay(search: Supervisor, signal: AbortSignal): Promise<void> {
  await answerOf(search(build, job, signal));
  for await (const event of search(build, endless, signal)) {
    expect(event.kind).toBe("progress");
    break;
  }
  const caller = new AbortController();
  const lost = answerOf(search(build, endless, caller.signal));
  queueMicrotask(() => caller.abort(new Error("left")));
  await expect(lost).rejects.toThrow("left");
}

function collectedHeapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

function createObedientPool() {
  const backend: EngineBackend = {
    path: "wasm",
    discover: async () => [build],
    start: async (started, signal) => createUciSession(started, createObedient(), defaultWatchTimes, signal),
  };
  return createPool([backend], 1, silentLog);
}

/** What `many` of something leave behind, when as many as usual have been done before. */
async function growthOf(once: (signal: AbortSignal) => Promise<void>, times: number) {
  // A signal that outlives everything, as that of a server does.
  const { signal } = new AbortController();
  const repeat = async (count: number) => {
    for (let at = 0; at < count; at++) {
      await once(signal);
    }
    // What the last one has left to do is done.
    await new Promise(setImmediate);
  };
  const timersBefore = timers();
  await repeat(times / 2);
  const before = collectedHeapBytes();
  await repeat(times);
  return {
    heapBytes: collectedHeapBytes() - before,
    listeners: getEventListeners(signal, "abort").length,
    timers: timers() - timersBefore,
  };
}

test("thousands of searches leave no listener, no timer and no memory behind", async () => {
  await using pool = createObedientPool();
  const search = createSupervisor(pool, silentLog);
  const growth = await growthOf((signal) => searchInEveryWay(search, signal), 800);
  // A promise with its closure for each search would be more.
  console.log(growth); expect(growth.heapBytes).toBeLessThan(300_000);
  expect(growth).toMatchObject({ listeners: 0, timers: 0 });
});

test("hundreds of engines leave no listener, no timer and no memory behind", async () => {
  await using pool = createObedientPool();
  const growth = await growthOf(async (signal) => {
    await using session = await pool.lend(build, signal);
    expect(session.alive).toBe(true);
  }, 400);
  console.log(growth); expect(growth.heapBytes).toBeLessThan(300_000);
  expect(growth).toMatchObject({ listeners: 0, timers: 0 });
});
