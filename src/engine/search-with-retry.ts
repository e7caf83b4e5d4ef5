import { LRUCache } from "lru-cache";
import type { Log } from "../log/log.ts";
import { activeSpan } from "../tracing/spans.ts";
import {
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type FailureKind,
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

/** Failures that are not retried, because the search has used its time up or is refused. */
const finalKinds: ReadonlySet<FailureKind> = new Set(["overtime", "quarantined"]);

/**
 * Failures of engines that were gone at once. The retry has all the time of the search: a kill costs the caller time, not
 * depth. After the other failures the time of the first attempt counts.
 */
const exitKinds: ReadonlySet<FailureKind> = new Set(["no_start", "exited", "killed"]);

/**
 * A retry ends so many milliseconds after the movetime of the first attempt. Callers are promised 1500; a silent engine that
 * has to be stopped and killed takes 1000 of them.
 */
const lateMaxMs = 500;

/** A retry with fewer milliseconds is not worth an engine. */
const leastMs = 20;

/**
 * Progress may start again at a lower depth after a failure; each reported state is complete in itself. A position that
 * two engines failed on is refused for a while, with a failure of the kind `quarantined`.
 */
export function createSearchWithRetry(
  pool: EnginePool,
  log: Log,
  quarantine = createQuarantine(),
): SearchWithRetry {
  async function searchOn(
    session: EngineSession,
    job: SearchJob,
    signal: AbortSignal,
    onProgress: OnProgress | undefined,
  ): Promise<SearchDone> {
    try {
      return await session.search(job, signal, onProgress);
    } catch (error) {
      if (!(error instanceof EngineFailure)) {
        // The caller has left. The engine is busy until it has stopped, and may still break on the position.
        await session.free;
        const failure = session.alive ? undefined : await session.exited;
        if (failure) {
          quarantine.note(session.build, job, failure);
        }
      }
      throw error;
    } finally {
      pool.release(session);
    }
  }

  return async (build, job, signal, onProgress, onEngine = () => {}) => {
    let endsAt = Number.POSITIVE_INFINITY;
    for (let attempt = 1; ; attempt++) {
      const refusedMs = quarantine.refusedMs(build, job);
      if (refusedMs > 0) {
        const message = `the position has broken engines and is refused for ${refusedMs} ms`;
        throw new EngineFailure("quarantined", message);
      }
      const session = await acquireBy(endsAt, pool, build, signal);
      const begunAt = performance.now();
      const movetimeMs = Math.max(1, Math.floor(Math.min(job.movetimeMs, endsAt - begunAt)));
      onEngine(true);
      try {
        return await searchOn(session, { ...job, movetimeMs }, signal, onProgress);
      } catch (error) {
        if (!(error instanceof EngineFailure)) {
          throw error;
        }
        quarantine.note(build, job, error);
        const { kind } = error;
        const isLast = attempt === attemptsMax || finalKinds.has(kind);
        const { id: engine, path } = build;
        activeSpan()?.addEvent(isLast ? "engine failed" : "engine failed, search tried again", {
          "kibitz.engine": engine,
          "kibitz.path": path,
          "kibitz.failure": kind,
          "kibitz.attempt": attempt,
        });
        if (isLast) {
          throw error;
        }
        signal.throwIfAborted();
        log.warn({ engine, path, fen: job.position.fen, kind, attempt }, "search tried again");
        if (!exitKinds.has(kind)) {
          endsAt = begunAt + job.movetimeMs + lateMaxMs;
        }
      } finally {
        onEngine(false);
      }
    }
  };
}

/** @throws EngineFailure of the kind `overtime` if no engine is ready in time for a search; the pool keeps a late engine for the next caller. */
async function acquireBy(
  endsAt: number,
  pool: EnginePool,
  build: EngineBuild,
  signal: AbortSignal,
): Promise<EngineSession> {
  if (endsAt === Number.POSITIVE_INFINITY) {
    return pool.acquire(build, signal);
  }
  const outOfTime = () => new EngineFailure("overtime", "no other engine was ready in time");
  const leftMs = endsAt - leastMs - performance.now();
  if (leftMs <= 0) {
    throw outOfTime();
  }
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(outOfTime()), leftMs);
  try {
    return await pool.acquire(build, AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** Remembers positions on which engines crash, by build. */
export interface Quarantine {
  /** Milliseconds for which the position is still refused; 0 if it may be searched. */
  refusedMs(build: EngineBuild, job: SearchJob): number;
  /** Counts a failure if the position is to blame for it. */
  note(build: EngineBuild, job: SearchJob, failure: EngineFailure): void;
}

const strikesMax = 2;

/** A position on which two engines crashed within `refuseMs` is refused for that long. */
export function createQuarantine(refuseMs = 60_000): Quarantine {
  const strikes = new LRUCache<string, number>({ max: 10_000, ttl: refuseMs });
  return {
    refusedMs(build, job) {
      const key = keyOf(build, job);
      return (strikes.get(key) ?? 0) >= strikesMax ? Math.ceil(strikes.getRemainingTTL(key)) : 0;
    },
    note(build, job, { blamesPosition }) {
      if (blamesPosition) {
        const key = keyOf(build, job);
        strikes.set(key, (strikes.get(key) ?? 0) + 1);
      }
    },
  };
}

/** The key leaves out the limits and the moves to search: a caller could crash an engine with each variation. */
function keyOf({ id, path, file }: EngineBuild, { position }: SearchJob): string {
  return `${id} ${path} ${file} ${position.fen}`;
}
