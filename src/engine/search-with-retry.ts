import { LRUCache } from "lru-cache";
import type { Log } from "../log/log.ts";
import {
  type Audience,
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type FailureKind,
  isFromOutside,
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
  ...told: readonly [...Audience, onEngine?: OnEngine]
) => Promise<SearchDone>;

/** Told when a search has its engine, and when it has none any more: waiting for one, or for its start, is no engine time. */
type OnEngine = (isHeld: boolean) => void;

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

/** Whether callers have left searches of an engine, and the last of those. */
type Leaving =
  | { readonly kind: "none left" }
  | {
      readonly kind: "left";
      readonly job: SearchJob;
      /** Which of the engine's it was. */
      readonly number: number;
      /** By `performance.now()`. */
      readonly leftAt: number;
    };

/** What became of earlier attempts. */
interface History {
  /** Attempts so far. */
  readonly attempts: number;
  /** Those that ended by the engine's own doing. */
  readonly ownFailures: number;
  /** By `performance.now()`, as the others. */
  readonly firstFailedAt: number | undefined;
  /** By when the search must have its answer. */
  readonly endsAt: number;
}

/**
 * How far it is with a search:
 *
 *     attempt ──its engine answers──▶ answered
 *      │   ▲
 *      │   └───on another engine───┐
 *      └──its engine fails──▶ failed ──not worth another──▶ refused
 *
 * Refused is a search, too, whose position is in quarantine when an attempt is due, also the first. A caller who leaves
 * ends it in any state, with their reason. What may follow stands in the types of `attempt` and `afterFailure`.
 */
type Supervision = Attempt | Failed | Answered | Refused;

interface Attempt {
  readonly kind: "attempt";
  readonly history: History;
}

interface Failed {
  readonly kind: "failed";
  readonly history: History;
  readonly failure: EngineFailure;
  /** When an engine began, if one did. */
  readonly begunAt: number | undefined;
}

interface Answered {
  readonly kind: "answered";
  readonly answer: SearchDone;
}

interface Refused {
  readonly kind: "refused";
  readonly failure: EngineFailure;
}

const untried: History = {
  attempts: 0,
  ownFailures: 0,
  firstFailedAt: undefined,
  endsAt: Number.POSITIVE_INFINITY,
};

/**
 * States may start again at a lower depth after a failure; each one is complete in itself. A position
 * that has broken two engines is refused for a while, with a failure of the kind `quarantined`.
 */
export function createSearchWithRetry(
  pool: EnginePool,
  log: Log,
  quarantine = createQuarantine(),
): SearchWithRetry {
  const leavings = new WeakMap<EngineSession, Leaving>();

  /** What breaks an engine when nobody waits for it any more counts, too. */
  function watch(session: EngineSession): void {
    if (leavings.has(session)) {
      return;
    }
    leavings.set(session, { kind: "none left" });
    void session.exited.then((failure) => {
      const last = leavings.get(session);
      if (failure === undefined || last?.kind !== "left") {
        return;
      }
      if (last.number === session.searches && performance.now() - last.leftAt < leavingMaxMs) {
        quarantine.note(session.build, last.job, failure.kind);
      }
    });
  }

  async function searchOn(
    session: EngineSession,
    job: SearchJob,
    signal: AbortSignal,
    audience: Audience,
  ): Promise<SearchDone> {
    watch(session);
    const before = session.searches;
    try {
      return await session.search(job, signal, ...audience);
    } catch (error) {
      // One that has not begun leaves nothing behind.
      if (!(error instanceof EngineFailure) && session.searches > before) {
        const leftAt = performance.now();
        leavings.set(session, { kind: "left", job, number: session.searches, leftAt });
        // So long it has no time for others.
        await session.free;
      }
      throw error;
    } finally {
      pool.release(session);
    }
  }

  /** An engine, if there is one in time. One that comes late is for others. */
  async function acquireBy(endsAt: number, build: EngineBuild, signal: AbortSignal): Promise<EngineSession> {
    const lent = pool.acquire(build, signal);
    if (endsAt === Number.POSITIVE_INFINITY) {
      return lent;
    }
    const late = Promise.withResolvers<never>();
    // Its time is over where the whole process stood still.
    const leftMs = Math.max(0, endsAt - leastMs - performance.now());
    const timer = setTimeout(() => late.reject(outOfTime()), leftMs);
    try {
      return await Promise.race([lent, late.promise]);
    } catch (error) {
      lent.then(pool.release, () => {});
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** One attempt. @throws the reason of the caller, or what is no engine's failure. */
  async function attempt(
    { history }: Attempt,
    build: EngineBuild,
    job: SearchJob,
    signal: AbortSignal,
    [onProgress, wanted, onEngine = () => {}]: readonly [...Audience, OnEngine?],
  ): Promise<Answered | Failed | Refused> {
    const refusedMs = quarantine.refusedMs(build, job);
    if (refusedMs > 0) {
      const message = `the position has broken engines and is refused for ${refusedMs} ms`;
      return { kind: "refused", failure: new EngineFailure("quarantined", message) };
    }
    let begunAt: number | undefined;
    try {
      const session = await acquireBy(history.endsAt, build, signal);
      begunAt = performance.now();
      onEngine(true);
      const leftMs = Math.floor(history.endsAt - begunAt);
      const within = leftMs < job.movetimeMs ? { ...job, movetimeMs: Math.max(1, leftMs) } : job;
      return { kind: "answered", answer: await searchOn(session, within, signal, [onProgress, wanted]) };
    } catch (error) {
      if (!(error instanceof EngineFailure)) {
        throw error;
      }
      return { kind: "failed", history, failure: error, begunAt };
    } finally {
      if (begunAt !== undefined) {
        onEngine(false);
      }
    }
  }

  /** Whether a search that has failed is worth another attempt, and until when that may take. */
  function afterFailure(
    { history, failure, begunAt }: Failed,
    build: EngineBuild,
    job: SearchJob,
  ): Attempt | Refused {
    quarantine.note(build, job, failure.kind);
    const fromOutside = isFromOutside(failure);
    const ownFailures = history.ownFailures + Number(!fromOutside);
    const firstFailedAt = history.firstFailedAt ?? performance.now();
    const isEnough = fromOutside
      ? performance.now() - firstFailedAt > outsidePatienceMs
      : ownFailures === attemptsMax;
    if (!retried.has(failure.kind) || isEnough || quarantine.refusedMs(build, job) > 0) {
      return { kind: "refused", failure };
    }
    const mustEndAt =
      begunAt !== undefined && timed.has(failure.kind)
        ? begunAt + job.movetimeMs + lateMaxMs
        : Number.POSITIVE_INFINITY;
    const endsAt = Math.min(history.endsAt, mustEndAt);
    return {
      kind: "attempt",
      history: { attempts: history.attempts + 1, ownFailures, firstFailedAt, endsAt },
    };
  }

  return async (build, job, signal, ...told) => {
    let state: Supervision = { kind: "attempt", history: untried };
    for (;;) {
      switch (state.kind) {
        case "attempt":
          state = await attempt(state, build, job, signal, told);
          break;
        case "failed": {
          const next = afterFailure(state, build, job);
          const { kind } = state.failure;
          const attempt = state.history.attempts + 1;
          pool.changes.emit("failed", build, { kind, attempt, isLast: next.kind === "refused" });
          if (next.kind === "attempt") {
            signal.throwIfAborted();
            const { id: engine, path } = build;
            const fields = { engine, path, fen: job.position.fen, kind, attempt };
            log.warn(fields, "search tried again");
          }
          state = next;
          break;
        }
        case "answered":
          return state.answer;
        case "refused":
          throw state.failure;
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

/** Without the limits and the moves to be searched: whoever varies them would break an engine with each. */
function keyOf({ id, path, file }: EngineBuild, { position }: SearchJob): string {
  return `${id} ${path} ${file} ${position.fen}`;
}
