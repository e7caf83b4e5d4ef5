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

/** A node in this process: its own connection and its own engines, which a test lets answer. */
export interface TestNode {
  readonly analyzer: Analyzer;
  readonly scheduler: Scheduler;
  readonly redis: Redis;
  /** Searches under way here, in the order in which they came. */
  readonly searches: HeldSearch[];
  /** The tiers in which answers were found, as they were counted; undefined for an answer that was not known. */
  readonly found: (CacheTier | undefined)[];
  /** How often the node has found that another one holds the claim on a search. */
  readonly waits: () => number;
}

export interface HeldSearch {
  readonly signal: AbortSignal;
  tell(depth: number): void;
  answer(done?: Partial<SearchDone>): void;
  fail(error: Error): void;
}

interface NodeOptions {
  /** The URL of Redis. */
  readonly url: string;
  readonly prefix: string;
  /** How long it waits for Redis, in milliseconds. */
  readonly askMaxMs: number;
  /** Default: short times. */
  readonly claimTimes?: NonNullable<Parameters<typeof createRedisClaims>[1]["times"]>;
}

/** Ends after the test. Its claims are short. */
export async function openNode({
  url,
  prefix,
  askMaxMs,
  claimTimes = { leaseMs: 1000, renewMs: 50, pollMs: 5 },
}: NodeOptions): Promise<TestNode> {
  const times = {
    operationMaxMs: askMaxMs,
    briefMaxMs: askMaxMs,
    briefRestMs: 50,
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
      tell: (depth) => onProgress({ kind: "progress", snapshot: snapshotOf({ depth }) }),
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
      async claim(name) {
        const claim = await claims.claim(name);
        waits += claim.kind === "taken" ? 1 : 0;
        return claim;
      },
    },
    cache,
  });
  const found: TestNode["found"] = [];
  const meter = { search() {}, lookUp: (tier: CacheTier | undefined) => void found.push(tier) };
  const analyzer = createAnalyzer({ search, scheduler, cache, sharing, meter, movetimeMaxMs: 9000 });
  return { analyzer, scheduler, redis: connection, searches, found, waits: () => waits };
}
