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

/** Retries once, on another engine. Settles when no engine is busy with the search: half a second after a disconnect at most. */
export type SearchWithRetry = (
  build: EngineBuild,
  job: SearchJob,
  signal: AbortSignal,
  onProgress?: OnProgress,
  onEngine?: OnEngine,
) => Promise<SearchDone>;

/** Called when a search gets an engine, and when it has none any more: the wait for an engine is not engine time. */
type OnEngine = (isHeld: boolean) => void;

const attemptsMax = 2;

/** The failures that a position may cause before it is quarantined. */
const strikesMax = 2;

/**
 * The second attempt has the whole time of the search, so that a failure costs the client time but not depth. After `overtime`,
 * there is none, because the client has already waited as long as promised. Progress may start again at a lower depth. A position
 * is quarantined for `refuseMs`.
 */
export function createSearchWithRetry(pool: EnginePool, log: Log, refuseMs = 60_000): SearchWithRetry {
  const strikes = new LRUCache<string, number>({ max: 10_000, ttl: refuseMs });

  return async (build, job, signal, onProgress, onEngine = () => {}) => {
    const { id: engine, path } = build;
    // Leave out the limits and the moves to search, or a client could crash an engine with each variation of them.
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
