import type { Redis } from "./connection.ts";
import { textsOf } from "./replies.ts";

/** The clock of Redis: the one clock that all nodes share. */
export interface RedisClock extends Disposable {
  /**
   * Milliseconds since 1970, too late by at most one round trip. Undefined until Redis has answered once.
   */
  now(): number | undefined;
  /**
   * The deadline of a script that is sent now and given up after `afterMs`: a script that arrives later does nothing. Empty
   * if the clock is unknown.
   */
  deadline(afterMs: number): number | "";
  /** Reads the clock now. Never rejects. */
  look(): Promise<void>;
}

/** Between two readings, in milliseconds: clocks drift little in that time. */
const everyMs = 2000;

export function createRedisClock(redis: Redis): RedisClock {
  let aheadMs: number | undefined;

  async function look(): Promise<void> {
    const askedAt = performance.now();
    try {
      const [seconds, microseconds] = textsOf(await redis.ask("TIME", [])).map(Number);
      aheadMs = (seconds ?? Number.NaN) * 1000 + (microseconds ?? 0) / 1000 - askedAt;
    } catch {
      // The last reading still holds.
    }
  }

  const lookAgain = () => void look();
  lookAgain();
  const timer = setInterval(lookAgain, everyMs).unref();
  redis.changes.on("change", lookAgain);
  const now = () => (aheadMs === undefined ? undefined : performance.now() + aheadMs);
  return {
    now,
    deadline(afterMs) {
      const known = now();
      return known === undefined ? "" : Math.ceil(known + afterMs);
    },
    look,
    [Symbol.dispose]() {
      clearInterval(timer);
      redis.changes.off("change", lookAgain);
    },
  };
}
