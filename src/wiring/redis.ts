import type { Log } from "../log/log.ts";
import type { Meter } from "../metrics/meter.ts";
import type { ClaimTimes } from "../storage/redis/claims.ts";
import type { Redis, RedisTimes } from "../storage/redis/connection.ts";
import { ConfigError } from "./config.ts";
import type { Degraded } from "./degraded.ts";
import type { Config } from "./settings.ts";

export interface SharingTimes extends RedisTimes {
  readonly announceMs: number;
  readonly claims: Partial<ClaimTimes>;
}

interface RedisWatched {
  readonly times?: Partial<RedisTimes> | undefined;
  readonly degraded?: Degraded | undefined;
  readonly meter?: Pick<Meter, "redisOperation"> | undefined;
}

/**
 * Returns undefined without loading the Redis library if the settings name no Redis. Retries while Redis is unreachable.
 * Throws ConfigError if a retry would not help.
 */
export async function connectRedis(
  { redisUrl, redisPrefix }: Pick<Config, "redisUrl" | "redisPrefix">,
  log: Pick<Log, "info" | "warn">,
  { times, degraded, meter }: RedisWatched = {},
): Promise<Redis | undefined> {
  if (redisUrl === undefined) {
    return undefined;
  }
  const { openRedis, RedisUnusable } = await import("../storage/redis/connection.ts");
  const { host } = new URL(redisUrl);
  const redis = await openRedis({ url: redisUrl, prefix: redisPrefix, times: times ?? {}, meter }).catch(
    (error) => {
      throw error instanceof RedisUnusable
        ? new ConfigError(
            `KIBITZ_REDIS_URL: Redis at ${host} cannot be used: ${error.message.replace(/\.$/, "")}.`,
          )
        : error;
    },
  );
  const setDegraded = degraded?.part("store");
  const report = () => {
    const { health } = redis;
    setDegraded?.(health.kind !== "up");
    switch (health.kind) {
      case "up":
        return log.info({}, "recovered: Redis can be used, and this node shares again");
      case "unwritable":
        return log.warn(
          { error: health.why },
          "degraded: Redis refuses writes, so this node shares nothing new",
        );
      case "down":
        return log.warn(
          { error: health.why },
          "degraded: Redis is unreachable; this node works alone until it returns",
        );
    }
  };
  if (redis.health.kind !== "up") {
    report();
  }
  redis.changes.on("change", report);
  redis.changes.on("refused", (error) => log.warn({ error }, "Redis refuses a command of this node"));
  return redis;
}
