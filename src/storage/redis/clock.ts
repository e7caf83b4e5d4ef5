import type { Redis } from "./connection.ts";
import { textsOf } from "./replies.ts";

/** The clock of Redis, the only one that all nodes have, as far as this one knows it. */
export interface RedisClock extends Disposable {
  /**
   * What it shows now, in milliseconds since 1970: rather too late, by as long as an answer of Redis takes. Undefined
   * where Redis was not there to be asked.
   */
  now(): number | undefined;
  /**
   * Until when a script is to be carried out that is sent now and given up after so long: one that comes late does nothing
   * then. Nothing where the clock is not known.
   */
  deadline(afterMs: number): number | "";
  /** Asks it at once, where it can be. Never rejects. */
  look(): Promise<void>;
}

/** Between two looks, in milliseconds: no clock is wrong by much after that. */
const everyMs = 2000;

export function createRedisClock(redis: Redis): RedisClock {
  let aheadMs: number | undefined;

  async function look(): Promise<void> {
    const askedAt = performance.now();
    try {
      const [seconds, microseconds] = textsOf(await redis.ask("TIME", [])).map(Number);
      aheadMs = (seconds ?? Number.NaN) * 1000 + (microseconds ?? 0) / 1000 - askedAt;
    } catch {
      // What was seen before still holds.
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
