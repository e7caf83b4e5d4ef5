import type { Log } from "../log.ts";
import {
  type EngineBuild,
  EngineFailure,
  type FailureKind,
  type SearchEvent,
  type SearchJob,
} from "./engine.ts";
import type { EnginePool } from "./pool.ts";

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
const retried: ReadonlySet<FailureKind> = new Set(["no_start", "exited", "confused", "deaf", "suspended"]);

/** States may start again at a lower depth after a failure; each one is complete in itself. */
export function createSupervisor(pool: EnginePool, log: Log): Supervisor {
  return async function* supervise(build, job, signal) {
    for (let attempt = 1; ; attempt++) {
      try {
        const session = await pool.lend(build, signal);
        try {
          yield* session.search(job, signal);
        } finally {
          pool.giveBack(session);
        }
        return;
      } catch (error) {
        const again = error instanceof EngineFailure && retried.has(error.kind) && attempt < attemptsMax;
        if (!again) {
          throw error;
        }
        signal.throwIfAborted();
        log.warn(
          { engine: build.id, path: build.path, fen: job.position.fen, kind: error.kind, attempt },
          "search tried again",
        );
      }
    }
  };
}
