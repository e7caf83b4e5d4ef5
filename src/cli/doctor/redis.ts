import { silentLog } from "../../log/log.ts";
import { ConfigError } from "../../wiring/config.ts";
import { connectRedis } from "../../wiring/redis.ts";
import type { Config } from "../../wiring/settings.ts";
import { bad, type Finding, good, messageOf } from "./finding.ts";

export async function* checkRedis(config: Config): AsyncIterable<Finding> {
  const part = "redis";
  try {
    using redis = await connectRedis(config, silentLog);
    if (redis === undefined) {
      return;
    }
    const { health } = redis;
    if (health.kind === "down") {
      throw new Error(health.why);
    }
    yield health.kind === "up"
      ? good(part, `${new URL(config.redisUrl ?? "").host} answers and takes writes`)
      : bad(
          part,
          `KIBITZ_REDIS_URL: Redis does not take writes: ${health.why}`,
          "Until it does, each node counts its own requests, and no key can be created.",
        );
    const { evictionBy } = await import("../../wiring/nodes.ts");
    const eviction = await evictionBy(redis);
    if (eviction?.level === "warn") {
      yield bad(part, eviction.text, "Change maxmemory-policy in the configuration of Redis.");
    }
  } catch (error) {
    yield error instanceof ConfigError
      ? bad(
          part,
          error.message,
          "The service does not start: correct KIBITZ_REDIS_URL, or repair that Redis.",
        )
      : bad(
          part,
          `KIBITZ_REDIS_URL: Redis does not answer: ${messageOf(error)}`,
          "Start Redis, or allow connections to it. Without it each node counts its own requests, and a key works only on the nodes that have seen it.",
        );
  }
}
