import type { Log } from "../log.ts";
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
import { createQuarantine } from "./quarantine.ts";

/** Runs a search on an engine of a build, and on another one when the engine fails. */
export type Supervisor = (
  build: EngineBuild,
  job: SearchJob,
  signal: AbortSignal,
  onProgress?: OnProgress,
) => Promise<SearchDone>;

const attemptsMax = 3;

/**
 * Failures after which the same search is tried on another engine: those that cost the caller time,
 * not the answer. One that overran has used the time up.
 */
const retried: ReadonlySet<FailureKind> = new Set([
  "no_start",
  "exited",
  "killed",
  "confused",
  "deaf",
  "suspended",
]);

/**
 * A search that is run again may take so much longer than its movetime, counted from the beginning of its first
 * run. What is promised to callers is 1500 ms; an engine that has to be stopped and killed takes 600 of them.
 */
const lateMaxMs = 900;

/** A search of fewer milliseconds is not worth an engine. */
const leastMs = 20;

/**
 * States may start again at a lower depth after a failure; each one is complete in itself. A position
 * that has broken two engines is refused for a while, with a failure of the kind `quarantined`.
 */
export function createSupervisor(pool: EnginePool, log: Log, quarantine = createQuarantine()): Supervisor {
  /** The searches that callers have left, by the engine that may still break on them. */
  const abandoned = new WeakMap<EngineSession, SearchJob>();
  const watched = new WeakSet<EngineSession>();

  /** What breaks an engine when nobody waits for it any more counts, too. */
  function watch(session: EngineSession): void {
    if (!watched.has(session)) {
      watched.add(session);
      void session.exited.then((failure) => {
        const job = abandoned.get(session);
        // Of an engine that went later, when it was idle, the watchdog says nothing.
        if (job && (failure?.kind === "overran" || failure?.kind === "deaf")) {
          quarantine.note(session.build, job, failure.kind);
        }
      });
    }
    abandoned.delete(session);
  }

  async function searchOn(
    session: EngineSession,
    job: SearchJob,
    signal: AbortSignal,
    onProgress: OnProgress | undefined,
  ): Promise<SearchDone> {
    watch(session);
    pool.tally.of(session.build).searches++;
    try {
      return await session.search(job, signal, onProgress);
    } catch (error) {
      if (!(error instanceof EngineFailure)) {
        abandoned.set(session, job);
      }
      throw error;
    } finally {
      pool.giveBack(session);
    }
  }

  return async (build, job, signal, onProgress) => {
    let firstAt: number | undefined;
    let last: unknown;
    for (let attempt = 1; ; attempt++) {
      const refusedMs = quarantine.refusedMs(build, job);
      if (refusedMs > 0) {
        throw new EngineFailure(
          "quarantined",
          `the position has broken engines and is refused for ${refusedMs} ms`,
        );
      }
      try {
        const session = await pool.lend(build, signal);
        firstAt ??= performance.now();
        const leftMs = Math.floor(firstAt + job.movetimeMs + lateMaxMs - performance.now());
        if (leftMs < leastMs) {
          pool.giveBack(session);
          throw new EngineFailure("out_of_time", "no time is left to search again", { cause: last });
        }
        const within = leftMs < job.movetimeMs ? { ...job, movetimeMs: leftMs } : job;
        return await searchOn(session, within, signal, onProgress);
      } catch (error) {
        if (!(error instanceof EngineFailure)) {
          throw error;
        }
        last = error;
        quarantine.note(build, job, error.kind);
        if (!retried.has(error.kind) || attempt === attemptsMax || quarantine.refusedMs(build, job) > 0) {
          throw error;
        }
        signal.throwIfAborted();
        const { id: engine, path } = build;
        log.warn({ engine, path, fen: job.position.fen, kind: error.kind, attempt }, "search tried again");
      }
    }
  };
}
