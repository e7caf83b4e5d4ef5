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

/**
 * Runs a search on an engine of a build, and once more on another engine if the first one fails. Settles when no engine is
 * busy with the search any more: if the caller leaves, that is half a second later at most.
 */
export type SearchWithRetry = (
  build: EngineBuild,
  job: SearchJob,
  signal: AbortSignal,
  onProgress?: OnProgress,
  onEngine?: OnEngine,
) => Promise<SearchDone>;

/** Called when a search gets an engine, and when it has none any more: waiting for an engine is no engine time. */
type OnEngine = (isHeld: boolean) => void;

const attemptsMax = 2;

/** Failures for which a position is to blame, until it is refused. */
const strikesMax = 2;

/**
 * The second attempt has all the time of the search: a failure costs the caller time, not depth. After `overtime` there is
 * none, because the caller has waited as long as it was promised. Progress may start again at a lower depth; each
 * reported state is complete in itself.
 *
 * @param refuseMs for how long a position that two engines failed on is refused, with a failure of the kind `quarantined`
 */
export function createSearchWithRetry(pool: EnginePool, log: Log, refuseMs = 60_000): SearchWithRetry {
  const strikes = new LRUCache<string, number>({ max: 10_000, ttl: refuseMs });

  return async (build, job, signal, onProgress, onEngine = () => {}) => {
    const { id: engine, path } = build;
    // Without the limits and the moves to search: a caller could crash an engine with each variation.
    const key = `${engine} ${path} ${build.file} ${job.position.fen}`;
    for (let attempt = 1; ; attempt++) {
      if ((strikes.get(key) ?? 0) >= strikesMax) {
        const forMs = Math.ceil(strikes.getRemainingTTL(key));
        throw new EngineFailure("quarantined", `the position has broken engines, refused for ${forMs} ms`);
      }
      const session = await pool.acquire(build, signal);
      onEngine(true);
      try {
        return await session.search(job, signal, onProgress);
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
        onEngine(false);
      }
    }
  };
}
