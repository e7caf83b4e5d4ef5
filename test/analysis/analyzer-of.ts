import type { SearchResult } from "../../src/analysis/analysis.ts";
import { type Analyzer, createAnalyzer } from "../../src/analysis/analyzer.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import type { SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { snapshotOf } from "./made-up.ts";

export function analyzerOf(search: SearchWithRetry, slots = 1, cacheBytes = 1e6): Analyzer {
  return createAnalyzer({
    hasRoom: () => false,
    search,
    scheduler: createScheduler({ slots, maxWaitMs: 60_000 }),
    cache: createMemoryCache<SearchResult>({ bytes: cacheBytes }),
    movetimeMaxMs: 9000,
  });
}

/** A search that runs until it is cancelled. */
export const endless: SearchWithRetry = (_build, _job, signal, onProgress = () => {}, onEngine) => {
  onEngine?.(true);
  onProgress({ kind: "progress", snapshot: snapshotOf({ depth: 13 }) });
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
};
