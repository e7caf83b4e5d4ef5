import type { Redis } from "./connection.ts";

/** Asks Redis for what one can do without. */
export interface BriefRedis {
  /** What `ask` answers to; undefined, and soon, where Redis cannot be asked, or was late a moment ago. Never rejects. */
  ask<R>(ask: (maxMs: number) => Promise<R>): Promise<R | undefined>;
}

export interface BriefTimes {
  /** How long an answer is waited for, in milliseconds: less than what would be saved. */
  readonly askMaxMs: number;
  /** After one that did not come, so long nobody asks. */
  readonly restMs: number;
}

/** A Redis that is slow costs its callers one wait a second, and not one each. */
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
        // Why is in the log, by the connection's health, or Redis was late.
        restsUntil = performance.now() + restMs;
        return undefined;
      }
    },
  };
}
