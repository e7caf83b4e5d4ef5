import { afterEach, describe, expect, test } from "vitest";
import { createWasmBackend } from "../../../src/engine/backends/wasm/index.ts";
import { createPool, type EnginePool } from "../../../src/engine/pool.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createSearchWithRetry } from "../../../src/engine/search-with-retry.ts";
import { defaultWatchTimes, type WatchTimes } from "../../../src/engine/uci/watch.ts";
import { type Log, silentLog } from "../../../src/log/log.ts";
import { jobOf, underWay } from "../../engine/job-of.ts";
import { enginesRunning, processorMsOf } from "../../engine/processes.ts";
import { unstoppable } from "../../engine/unstoppable.ts";
import { patienceMs } from "../../support/patience.ts";

const forever = new AbortController().signal;
const pools: EnginePool[] = [];

/**
 * Creates searches on a real engine with the lite network. If the engine fails, the search is retried and `failures` records
 * the failure.
 */
async function supervise(times: Partial<WatchTimes> = {}) {
  const backend = createWasmBackend({ hashMb: 16, threads: 1 }, noSandbox, {
    ...defaultWatchTimes,
    ...times,
  });
  const build = (await backend.discover(forever)).find(({ net }) => net === "lite");
  if (build === undefined) {
    return expect.fail("no lite build");
  }
  const failures: string[] = [];
  const warn: Log["warn"] = ({ kind }, message) => failures.push(`${message}: ${kind}`);
  const log = { ...silentLog, warn };
  const pool = createPool({ start: backend.start, memoryMaxBytes: Number.POSITIVE_INFINITY, log });
  pools.push(pool);
  let acquired = 0;
  const acquire: EnginePool["acquire"] = async (...asked) => {
    const session = await pool.acquire(...asked);
    acquired++;
    return session;
  };
  const searchWithRetry = createSearchWithRetry({ ...pool, acquire }, log);
  return {
    failures,
    search: (job = jobOf({ depth: 12 }), signal = forever) => searchWithRetry(build, job, signal),
    /** Resolves when the engine of the first search has used 400 ms of processor time for the search. */
    async lostInSearch() {
      await expect.poll(() => acquired, { timeout: 20_000 }).toBe(1);
      const [engine = 0] = enginesRunning();
      const before = processorMsOf(engine);
      await expect.poll(() => processorMsOf(engine) - before, { timeout: 20_000 }).toBeGreaterThan(400);
    },
    searching: () =>
      underWay((onProgress) => searchWithRetry(build, jobOf({ depth: 16 }), forever, onProgress)),
  };
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool[Symbol.asyncDispose]()));
  await expect.poll(enginesRunning, { timeout: patienceMs }).toEqual([]);
});

describe("an engine in a search", () => {
  test("an engine that is killed during a search is replaced, and the search is repeated and answered", async () => {
    const { searching, failures } = await supervise();
    const { answer } = await searching();
    const [victim = 0] = enginesRunning();
    process.kill(victim, "SIGKILL");
    expect(await answer).toMatchObject({ endedBy: "depth", snapshot: { depth: 16 } });
    expect(enginesRunning()).not.toContain(victim);
    expect(failures.toSorted()).toEqual(["engine failed: killed", "search tried again: killed"]);
  });

  test("a search is answered even if the engine does not stop the cancelled search of the previous caller", async () => {
    const { search, lostInSearch, failures } = await supervise({ silenceMs: 600_000 });
    const caller = new AbortController();
    const lost = search(jobOf({ fen: unstoppable }), caller.signal);
    lost.catch(() => {});
    await lostInSearch();
    caller.abort(new Error("left"));
    await expect(lost).rejects.toThrow("left");
    expect((await search()).endedBy).toBe("depth");
    // No search is retried: the cancelled search ends with its engine, and no other search used that engine.
    expect(failures).toEqual(["engine failed: overtime"]);
  });
});
