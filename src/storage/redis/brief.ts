import type { Redis } from "./connection.ts";

/** Calls of Redis that a request can do without. */
export interface BriefRedis {
  /** Resolves with the result of `ask`, or with undefined if it fails, if Redis is down, or after a failure, for `restMs`. Never rejects. */
  ask<R>(ask: (maxMs: number) => Promise<R>): Promise<R | undefined>;
}

export interface BriefTimes {
  /** The longest wait, in milliseconds: shorter than the time that a reply saves. */
  readonly askMaxMs: number;
  /** The pause after a failed call, in milliseconds. */
  readonly restMs: number;
}

/** All callers share the pause: a slow Redis delays one of them a second, not each. */
export function createBriefRedis(
  redis: Redis,
  { askMaxMs = 100, restMs = 1000 }: Partial<BriefTimes> = {},
): BriefRedis {
  let restsUntil = Number.NEGATIVE_INFINITY;
  return {
    async ask(ask) {
      if (redis.health.kind === "down" || performance.now() < restsUntil) {
        return undefined;
      }
      try {
        return await ask(askMaxMs);
      } catch {
        // The connection has logged the reason, or Redis was slow.
        restsUntil = performance.now() + restMs;
        return undefined;
      }
    },
  };
}
