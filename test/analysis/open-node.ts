import { onTestFinished } from "vitest";
import type { SearchResult } from "../../src/analysis/analysis.ts";
import { type Analyzer, createAnalyzer } from "../../src/analysis/analyzer.ts";
import { lastResultFromJson, resultFromJson } from "../../src/analysis/read-result.ts";
import { createScheduler, type Scheduler } from "../../src/analysis/scheduler.ts";
import { createSharing } from "../../src/analysis/share-searches.ts";
import type { SearchDone } from "../../src/engine/engine.ts";
import type { SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import type { CacheTier } from "../../src/metrics/meter.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { createRedisCache } from "../../src/storage/redis/cache.ts";
import { createRedisClaims } from "../../src/storage/redis/claims.ts";
import { openRedis, type Redis } from "../../src/storage/redis/connection.ts";
import { doneOf, snapshotOf } from "./made-up.ts";

/** A node in the test process, with its own Redis connection. */
export interface TestNode {
  readonly analyzer: Analyzer;
  readonly scheduler: Scheduler;
  readonly redis: Redis;
  /** The running searches of this node, oldest first. */
  readonly searches: HeldSearch[];
  /** The cache tier of each analysis, or undefined for an analysis that was not cached. */
  readonly found: (CacheTier | undefined)[];
  /** Returns how often this node has waited for a search that another node ran. */
  readonly waits: () => number;
}

export interface HeldSearch {
  readonly signal: AbortSignal;
  report(depth: number): void;
  answer(done?: Partial<SearchDone>): void;
  fail(error: Error): void;
}

interface NodeOptions {
  readonly url: string;
  readonly prefix: string;
  readonly askMaxMs: number;
  readonly claimTimes?: Parameters<typeof createRedisClaims>[1]["times"];
}

export async function openNode({
  url,
  prefix,
  askMaxMs,
  claimTimes = { leaseMs: 1000, renewMs: 50, pollMs: 5, queuePollMs: 20 },
}: NodeOptions): Promise<TestNode> {
  const times = {
    operationMaxMs: askMaxMs,
    boundedCallMaxMs: askMaxMs,
    pauseAfterTimeoutMs: 50,
    connectMaxMs: 10_000,
    heartbeatMs: 50,
    retryMaxMs: 50,
  };
  const connection = await openRedis({ url, prefix, times });
  onTestFinished(() => connection[Symbol.dispose]());
  const searches: HeldSearch[] = [];
  const search: SearchWithRetry = (_build, _job, signal, onProgress = () => {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<SearchDone>();
    const held: HeldSearch = {
      signal,
      report: (depth) => onProgress({ kind: "progress", snapshot: snapshotOf({ depth }) }),
      answer: (done) => resolve(doneOf(done)),
      fail: reject,
    };
    signal.addEventListener("abort", () => reject(signal.reason));
    searches.push(held);
    return promise;
  };
  const cache = createMemoryCache<SearchResult>({ bytes: 1e6 });
  const scheduler = createScheduler({ slots: 1, maxWaitMs: 60_000 });
  const claims = createRedisClaims<SearchResult>(connection, {
    format: { version: 1, read: lastResultFromJson },
    times: claimTimes,
  });
  let waits = 0;
  const sharing = createSharing({
    answers: createRedisCache(connection, { bytes: 1e6, format: { version: 1, read: resultFromJson } }),
    claims: {
      async watch(name) {
        const watched = await claims.watch(name);
        const answer = (signal: AbortSignal) => {
          waits++;
          return watched.answer(signal);
        };
        return Object.create(watched, { answer: { value: answer } });
      },
    },
    cache,
  });
  const found: TestNode["found"] = [];
  const meter = { search() {}, lookUp: (tier: CacheTier | undefined) => void found.push(tier) };
  const analyzer = createAnalyzer({
    search,
    hasRoom: () => false,
    scheduler,
    cache,
    sharing,
    meter,
    movetimeMaxMs: 9000,
  });
  return { analyzer, scheduler, redis: connection, searches, found, waits: () => waits };
}
