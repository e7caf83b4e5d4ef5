import type { Meter } from "../../metrics/meter.ts";
import { StoreUnavailable } from "../ports.ts";

/** Redis was not asked, has not answered, or refuses. */
export class RedisUnavailable extends StoreUnavailable {
  /** What the reason is called, of which there are few: `away` where Redis was not asked, `timeout`, `oom`. */
  readonly reason: string;

  constructor(why: string, reason: string) {
    super(`Redis: ${why}`);
    this.reason = reason;
  }
}

/**
 * Does one operation of Redis, which has a name: that of its command in small letters, or of its script. The one place that all of
 * them pass on their way, and where whoever counts or follows them stands.
 */
type Operate = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createOperations(meter: Pick<Meter, "redisOperation"> | undefined): Operate {
  return async (name, work) => {
    const startedAt = performance.now();
    const told = (failure: string | undefined) =>
      meter?.redisOperation({ name, seconds: (performance.now() - startedAt) / 1000, failure });
    try {
      const answer = await work();
      told(undefined);
      return answer;
    } catch (error) {
      told(error instanceof RedisUnavailable ? error.reason : "other");
      throw error;
    }
  };
}
