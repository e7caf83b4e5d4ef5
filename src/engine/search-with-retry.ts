import { LRUCache } from "lru-cache";
import type { Log } from "../log/log.ts";
import {
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type FailureKind,
  isFromOutside,
  type OnProgress,
  type SearchDone,
  type SearchJob,
} from "./engine.ts";
import type { EnginePool } from "./pool.ts";

/**
 * Runs a search on an engine of a build, and on another one when the engine fails. Settles when no engine is busy with
 * it any more: where the caller leaves, that is when the engine has stopped or is killed, half a second later at most.
 */
export type SearchWithRetry = (
  build: EngineBuild,
  job: SearchJob,
  signal: AbortSignal,
  onProgress?: OnProgress,
) => Promise<SearchDone>;

/** Tries of one search that end by the engine's own doing. */
const attemptsMax = 3;

/**
 * So long a search is tried again when its engines are killed from outside, in milliseconds: somebody cleans up, or the
 * kernel is short of memory. As long as a search may take.
 */
const outsidePatienceMs = 60_000;

/**
 * Failures after which the same search is tried on another engine: those that cost the caller time,
 * not the answer. One that overran has used the time up.
 */
const retried: ReadonlySet<FailureKind> = new Set([
  "no_start",
  "exited",
  "killed",
  "confused",
  "flooded",
  "deaf",
  "suspended",
]);

/**
 * Failures of engines that went on without an answer: the time of the request runs on after them. After the others,
 * where the engine was gone at once, the search is run as if for the first time: that costs time, not the answer.
 */
const timed: ReadonlySet<FailureKind> = new Set(["confused", "flooded", "deaf", "suspended"]);

/**
 * A search that is run again may take so much longer than its movetime, counted from the beginning of the
 * first run that did not stop. What is promised to callers is 1500 ms; an engine that has to be stopped and killed takes 600 of them.
 */
const lateMaxMs = 900;

/** A search of fewer milliseconds is not worth an engine. */
const leastMs = 20;

/** So long an engine may be busy with a search whose caller has left, with room for a machine under load. */
const leavingMaxMs = 1000;

/** A search that its caller has left. */
interface Abandoned {
  readonly job: SearchJob;
  /** Which of the engine's it was. */
  readonly number: number;
  /** By `performance.now()`. */
  readonly leftAt: number;
}

/**
 * States may start again at a lower depth after a failure; each one is complete in itself. A position
 * that has broken two engines is refused for a while, with a failure of the kind `quarantined`.
 */
export function createSearchWithRetry(
  pool: EnginePool,
  log: Log,
  quarantine = createQuarantine(),
): SearchWithRetry {
  const abandoned = new WeakMap<EngineSession, Abandoned>();
  const watched = new WeakSet<EngineSession>();

  /** What breaks an engine when nobody waits for it any more counts, too. */
  function watch(session: EngineSession): void {
    if (watched.has(session)) {
      return;
    }
    watched.add(session);
    void session.exited.then((failure) => {
      const last = abandoned.get(session);
      const busyWithIt = last?.number === session.searches && performance.now() - last.leftAt < leavingMaxMs;
      if (failure && last && busyWithIt) {
        quarantine.note(session.build, last.job, failure.kind);
      }
    });
  }

  async function searchOn(
    session: EngineSession,
    job: SearchJob,
    signal: AbortSignal,
    onProgress: OnProgress | undefined,
  ): Promise<SearchDone> {
    watch(session);
    const before = session.searches;
    try {
      return await session.search(job, signal, onProgress);
    } catch (error) {
      // One that has not begun leaves nothing behind.
      if (!(error instanceof EngineFailure) && session.searches > before) {
        abandoned.set(session, { job, number: session.searches, leftAt: performance.now() });
        // So long it has no time for others.
        await session.free;
      }
      throw error;
    } finally {
      pool.giveBack(session);
    }
  }

  /** An engine, if there is one in time. One that comes late is for others. */
  async function lendBy(endsAt: number, build: EngineBuild, signal: AbortSignal): Promise<EngineSession> {
    const lent = pool.lend(build, signal);
    if (endsAt === Number.POSITIVE_INFINITY) {
      return lent;
    }
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(outOfTime()), endsAt - leastMs - performance.now());
    try {
      return await Promise.race([lent, late.promise]);
    } catch (error) {
      lent.then(pool.giveBack, () => {});
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return async (build, job, signal, onProgress) => {
    /** By when the search must have its answer, by `performance.now()`. */
    let endsAt = Number.POSITIVE_INFINITY;
    let ownFailures = 0;
    let firstFailedAt: number | undefined;
    for (let attempt = 1; ; attempt++) {
      const refusedMs = quarantine.refusedMs(build, job);
      if (refusedMs > 0) {
        throw new EngineFailure(
          "quarantined",
          `the position has broken engines and is refused for ${refusedMs} ms`,
        );
      }
      let begunAt: number | undefined;
      try {
        const session = await lendBy(endsAt, build, signal);
        begunAt = performance.now();
        const leftMs = Math.floor(endsAt - begunAt);
        const within = leftMs < job.movetimeMs ? { ...job, movetimeMs: Math.max(1, leftMs) } : job;
        return await searchOn(session, within, signal, onProgress);
      } catch (error) {
        if (!(error instanceof EngineFailure)) {
          throw error;
        }
        quarantine.note(build, job, error.kind);
        firstFailedAt ??= performance.now();
        const fromOutside = isFromOutside(error);
        ownFailures += fromOutside ? 0 : 1;
        const enough = fromOutside
          ? performance.now() - firstFailedAt > outsidePatienceMs
          : ownFailures === attemptsMax;
        if (!retried.has(error.kind) || enough || quarantine.refusedMs(build, job) > 0) {
          throw error;
        }
        signal.throwIfAborted();
        if (begunAt !== undefined) {
          const by = timed.has(error.kind) ? begunAt + job.movetimeMs + lateMaxMs : Number.POSITIVE_INFINITY;
          endsAt = Math.min(endsAt, by);
        }
        const { id: engine, path } = build;
        log.warn({ engine, path, fen: job.position.fen, kind: error.kind, attempt }, "search tried again");
      }
    }
  };
}

function outOfTime(): EngineFailure {
  return new EngineFailure("out_of_time", "no other engine was ready in time");
}

/** Positions that break engines, each by the build that it breaks. */
export interface Quarantine {
  /** How long the search is still refused, in milliseconds; 0 if it may be tried. */
  refusedMs(build: EngineBuild, job: SearchJob): number;
  /** Notes a failure. Only what an engine does of itself, or what the watchdog had to end, counts. */
  note(build: EngineBuild, job: SearchJob, kind: FailureKind): void;
}

const strikesMax = 2;
const counted: ReadonlySet<FailureKind> = new Set(["exited", "flooded", "deaf", "overran"]);

/** A position that has broken two engines within `refuseMs` is refused for that long. */
export function createQuarantine(refuseMs = 60_000): Quarantine {
  const strikes = new LRUCache<string, number>({ max: 10_000, ttl: refuseMs });
  return {
    refusedMs(build, job) {
      if (strikes.size === 0) {
        return 0;
      }
      const key = keyOf(build, job);
      return (strikes.get(key) ?? 0) >= strikesMax ? Math.ceil(strikes.getRemainingTTL(key)) : 0;
    },
    note(build, job, kind) {
      if (counted.has(kind)) {
        const key = keyOf(build, job);
        strikes.set(key, (strikes.get(key) ?? 0) + 1);
      }
    },
  };
}

function keyOf({ id, path, file }: EngineBuild, { position }: SearchJob): string {
  return `${id} ${path} ${file} ${position.fen}`;
}
