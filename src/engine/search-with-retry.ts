import { LRUCache } from "lru-cache";
import type { Log } from "../log/log.ts";
import { activeSpan } from "../tracing/spans.ts";
import {
  type EngineBuild,
  EngineFailure,
  type OnProgress,
  type SearchDone,
  type SearchJob,
} from "./engine.ts";
import type { EnginePool } from "./pool.ts";

/** Retries a failed search once on another engine. After an abort, settles within half a second. */
export type SearchWithRetry = (
  build: EngineBuild,
  job: SearchJob,
  signal: AbortSignal,
  onProgress?: OnProgress,
  onEngine?: OnEngine,
) => Promise<SearchDone>;

/** Called with `true` when a clean engine begins the search, and with `false` when the search on this engine has ended. */
type OnEngine = (hasEngine: boolean) => void;

const attemptsMax = 2;

const strikesMax = 2;

/**
 * The second attempt has the full time limit again. `overtime` is not retried, because the answer would be too late.
 * @param refuseMs the duration of a quarantine
 */
export function createSearchWithRetry(pool: EnginePool, log: Log, refuseMs = 60_000): SearchWithRetry {
  const strikes = new LRUCache<string, number>({ max: 10_000, ttl: refuseMs });

  return async (build, job, signal, onProgress, onEngine = () => {}) => {
    const { id: engine, path } = build;
    // Omit limits and search moves from the key, because a client could vary them to make many engines fail.
    const key = `${engine} ${path} ${build.file} ${job.position.fen}`;
    for (let attempt = 1; ; attempt++) {
      if ((strikes.get(key) ?? 0) >= strikesMax) {
        const forMs = Math.ceil(strikes.getRemainingTTL(key));
        throw new EngineFailure("quarantined", `the position has broken engines, refused for ${forMs} ms`);
      }
      const session = await pool.acquire(build, signal);
      try {
        await session.ready(signal);
        onEngine(true);
        try {
          return await session.search(job, signal, onProgress);
        } finally {
          onEngine(false);
        }
      } catch (error) {
        if (!(error instanceof EngineFailure)) {
          throw error;
        }
        const { kind, blamesPosition } = error;
        if (blamesPosition) {
          strikes.set(key, (strikes.get(key) ?? 0) + 1);
        }
        signal.throwIfAborted();
        const isLast = attempt === attemptsMax || kind === "overtime";
        activeSpan()?.addEvent(isLast ? "engine failed" : "engine failed, search tried again", {
          "kibitz.engine": engine,
          "kibitz.path": path,
          "kibitz.failure": kind,
          "kibitz.attempt": attempt,
        });
        if (isLast) {
          throw error;
        }
        log.warn({ engine, path, fen: job.position.fen, kind, attempt }, "search tried again");
      } finally {
        pool.release(session);
      }
    }
  };
}
