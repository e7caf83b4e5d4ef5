import type { Log } from "../log.ts";
import {
  type EngineBuild,
  EngineFailure,
  type FailureKind,
  type SearchEvent,
  type SearchJob,
} from "./engine.ts";
import type { EnginePool } from "./pool.ts";
import { createQuarantine } from "./quarantine.ts";

/** Runs a search on an engine of a build, and on another one when the engine fails. */
export type Supervisor = (
  build: EngineBuild,
  job: SearchJob,
  signal: AbortSignal,
) => AsyncIterable<SearchEvent>;

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
 * States may start again at a lower depth after a failure; each one is complete in itself. A position
 * that has broken two engines is refused for a while, with a failure of the kind `quarantined`.
 */
export function createSupervisor(pool: EnginePool, log: Log, quarantine = createQuarantine()): Supervisor {
  return async function* supervise(build, job, signal) {
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
        pool.tally.of(build).searches++;
        try {
          yield* session.search(job, signal);
        } finally {
          pool.giveBack(session);
        }
        return;
      } catch (error) {
        if (!(error instanceof EngineFailure)) {
          throw error;
        }
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
