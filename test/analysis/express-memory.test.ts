import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { SearchResult } from "../../src/analysis/analysis.ts";
import { createAnalyzer } from "../../src/analysis/analyzer.ts";
import type { Sharing } from "../../src/analysis/flight.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import { createPool } from "../../src/engine/pool.ts";
import { createSearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { silentLog } from "../../src/log/log.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { buildOf } from "../engine/build-of.ts";
import { createFakeEngines } from "../engine/fake-engines.ts";
import { validated } from "./made-up.ts";

const build = buildOf();

/** Claims each search a moment after its slot, like several nodes with Redis. */
const slowClaims: Sharing = {
  async run({ enter, search, signal }) {
    for (;;) {
      const slot = await enter(signal);
      await sleep(20);
      const last = await search(slot);
      if (last) {
        return last;
      }
    }
  },
};

test.each([
  ["one node", undefined],
  ["nodes that claim each search after it has a slot", slowClaims],
])(
  "short searches of two callers behind a long search start no engine for which memory has no room: %s",
  async (_, sharing) => {
    const engines = createFakeEngines({ conduct: () => "go on", memoryBytes: () => 490e6 });
    const pool = createPool({ start: engines.start, memoryMaxBytes: 600e6, log: silentLog });
    const leaving = new AbortController();
    onTestFinished(async () => {
      leaving.abort(new Error("gone"));
      await pool[Symbol.asyncDispose]();
    });
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 60_000 });
    const analyzer = createAnalyzer({
      search: createSearchWithRetry(pool, silentLog),
      hasRoom: pool.hasRoom,
      scheduler,
      sharing,
      cache: createMemoryCache<SearchResult>({ bytes: 1e6 }),
      movetimeMaxMs: 60_000,
    });
    const analyze = (account: string, depth: number) =>
      analyzer.analyze(validated({ depth, build }), account, leaving.signal).catch(() => {});
    void analyze("hog", 30);
    await expect.poll(() => engines.jobs.map(({ depth }) => depth)).toEqual([30]);
    void analyze("first", 10);
    void analyze("second", 11);
    await expect.poll(() => engines.jobs.map(({ depth }) => depth)).toContain(10);
    await sleep(300);
    expect(pool.status(build)).toMatchObject({ states: ["busy"] });
    expect(engines.starts).toBe(1);
    expect(scheduler.status()).toMatchObject({ running: 1, waiting: 2 });
  },
);
