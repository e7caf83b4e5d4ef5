import type { EngineBackend, EngineBuild, EngineSession } from "./engine.ts";

/**
 * Starts an engine whose files are those that were found. They are compared before it is run, and again before it is
 * lent: what was replaced in between may have run, in its sandbox, but never answers anybody.
 */
export async function startGenuine(
  backend: EngineBackend,
  build: EngineBuild,
  signal: AbortSignal,
): Promise<EngineSession> {
  const before = build.assertUnchanged();
  // Mostly there is nothing to wait for, and an engine is started in this very turn.
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

/**
 * An engine that is being started anyway, for one caller. If that one leaves before it is there, it is for others.
 * @throws EngineFailure of the start, or the reason of `signal`.
 */
export async function shareStart(
  started: Promise<EngineSession>,
  signal: AbortSignal,
  giveBack: (session: EngineSession) => void,
): Promise<EngineSession> {
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([started, left.promise]);
  } catch (error) {
    started.then(giveBack, () => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** Waiting times after tries that fail: random, growing, and forgotten by a success. */
export interface Backoff {
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
