import { EventEmitter } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Log } from "../log/log.ts";
import {
  type EngineBackend,
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type FailureKind,
  isFromOutside,
} from "./engine.ts";

/** Starts engines, each build no faster than its last starts failed, and knows which builds can be started. */
interface EngineStarts {
  /**
   * @param onLoad told when its turn has come: from now on it takes memory.
   * @throws EngineFailure, or the reason of `signal`.
   */
  start(build: EngineBuild, signal: AbortSignal, onLoad: () => void): Promise<EngineSession>;
  /** Whether engines of the build can be started, as far as is known. */
  available(build: EngineBuild): boolean;
  readonly changes: EventEmitter<EngineEvents>;
}

/** What happens to engines. */
export interface EngineEvents {
  /** Engines of a build are available no more, or again. */
  change: [EngineBuild];
  /** One was started, in so many seconds. */
  started: [EngineBuild, number];
  /** One is gone or could not be started, by itself or because it was worn: another one comes in its place. */
  lost: [EngineBuild, FailureKind | "worn"];
  /** One has failed in a search: told while that search goes on, or ends with it. */
  failed: [EngineBuild, FailedAttempt];
}

interface FailedAttempt {
  readonly kind: FailureKind;
  /** Of the search: the first is 1. */
  readonly attempt: number;
  /** Whether the search has failed with it, and is not tried again. */
  readonly isLast: boolean;
}

/** Starts of one build that fail one after the other before it counts as unavailable: as many as one search tries. */
const failuresMax = 3;

/** Longest that a caller waits for the next try to start an engine, in milliseconds. */
const backoffPatienceMs = 1000;

export function createStarts(backends: readonly EngineBackend[], log: Log): EngineStarts {
  const backoffs = new Map<EngineBuild, Backoff>();
  const unavailable = new Set<EngineBuild>();
  const changes: EngineStarts["changes"] = new EventEmitter();

  function backoffOf(build: EngineBuild): Backoff {
    const backoff = backoffs.get(build) ?? createBackoff();
    backoffs.set(build, backoff);
    return backoff;
  }

  function markUnavailable(build: EngineBuild): void {
    if (!unavailable.has(build)) {
      unavailable.add(build);
      log.warn({ engine: build.id, path: build.path }, "engine is unavailable");
      changes.emit("change", build);
    }
  }

  function markAvailable(build: EngineBuild): void {
    if (unavailable.delete(build)) {
      log.info({ engine: build.id, path: build.path }, "engine is available again");
      changes.emit("change", build);
    }
  }

  async function waitForTurn({ waitMs }: Backoff, signal: AbortSignal): Promise<void> {
    if (waitMs > backoffPatienceMs) {
      // Who waits holds a slot, which another build's caller could have.
      throw new EngineFailure("backing_off", "the last engines of this build could not be started", {
        retryAfterMs: Math.ceil(waitMs),
      });
    }
    if (waitMs > 0) {
      await setTimeout(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  return {
    changes,
    available: (build) => !unavailable.has(build),
    async start(build, signal, onLoad) {
      const { id: engine, path } = build;
      const backend = backends.find((one) => one.path === path);
      if (backend === undefined) {
        throw new Error(`no backend for the path ${path}`);
      }
      const backoff = backoffOf(build);
      // Mostly there is nothing to wait for, and an engine is started in this very turn.
      if (backoff.waitMs > 0) {
        await waitForTurn(backoff, signal);
      }
      onLoad();
      const begunAt = performance.now();
      try {
        const session = await startGenuine(backend, build, signal);
        backoff.succeeded();
        markAvailable(build);
        const ms = performance.now() - begunAt;
        log.debug({ engine, path, ms: Math.round(ms) }, "engine started");
        changes.emit("started", build, ms / 1000);
        return session;
      } catch (error) {
        if (!signal.aborted) {
          // One that was killed while it started says nothing of the next one.
          const mostMs =
            error instanceof EngineFailure && isFromOutside(error) ? backoffPatienceMs / 2 : undefined;
          backoff.failed(begunAt, mostMs);
          log.warn({ engine, path, error: messageOf(error) }, "engine could not be started");
          changes.emit("lost", build, error instanceof EngineFailure ? error.kind : "no_start");
          if (backoff.failures >= failuresMax) {
            markUnavailable(build);
          }
        }
        throw error;
      }
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Starts an engine whose files are those that were found. They are compared before it is run, and again before it is
 * lent: what was replaced in between may have run, in its sandbox, but never answers anybody.
 */
async function startGenuine(
  backend: EngineBackend,
  build: EngineBuild,
  signal: AbortSignal,
): Promise<EngineSession> {
  const before = build.assertUnchanged();
  // Mostly at once, see above.
  if (before) {
    await before;
  }
  // Read while the engine loads, which takes longer.
  const genuine = build.assertGenuine();
  genuine.catch(() => {});
  const session = await backend.start(build, signal);
  try {
    await genuine;
    // It may have been replaced just before it was run.
    await build.assertUnchanged();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

/** Waiting times after tries that fail: random, growing, and forgotten by a success. */
interface Backoff {
  /** Tries that have failed since the last success. */
  readonly failures: number;
  /** Milliseconds until the next try may be begun; 0 while nothing has failed. */
  readonly waitMs: number;
  /**
   * A try that was begun then, by the same clock, has failed. Several that were under way together count once.
   *
   * @param mostMs where the next try need not wait longer.
   */
  failed(begunAt: number, mostMs?: number): void;
  succeeded(): void;
}

/**
 * Each time is random between the least one and four times the last: engines that died together do not
 * come back together. It counts from the failure, so that who comes later waits less.
 */
export function createBackoff(
  minMs = 100,
  maxMs = 30_000,
  random: () => number = Math.random,
  now: () => number = () => performance.now(),
): Backoff {
  let failures = 0;
  let pauseMs = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  return {
    get failures() {
      return failures;
    },
    get waitMs() {
      return Math.max(0, failedAt + pauseMs - now());
    },
    failed(begunAt, mostMs = maxMs) {
      if (begunAt >= failedAt) {
        failures++;
        pauseMs = Math.min(mostMs, maxMs, minMs + random() * (Math.max(minMs, pauseMs * 4) - minMs));
        failedAt = now();
      }
    },
    succeeded() {
      failures = 0;
      pauseMs = 0;
    },
  };
}
