import { silentLog } from "../../log/log.ts";
import type { Redis } from "../../storage/redis/connection.ts";
import { readPepperCheck } from "../../storage/redis/key-store.ts";
import { whyWrongPepper } from "../../wiring/access.ts";
import { ConfigError } from "../../wiring/config.ts";
import { connectRedis } from "../../wiring/redis.ts";
import type { Config } from "../../wiring/settings.ts";
import { bad, type Finding, good, messageOf, note } from "./finding.ts";

const part = "redis";

/** The Redis that nodes share, if the settings name one. */
export async function* checkRedis(config: Config): AsyncIterable<Finding> {
  try {
    using redis = await connectRedis(config, silentLog);
    if (redis) {
      yield* checkConnected(redis, config);
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    yield bad(
      part,
      error.message,
      "The service does not start: correct KIBITZ_REDIS_URL, or the Redis that it names.",
    );
  }
}

async function* checkConnected(redis: Redis, config: Config): AsyncIterable<Finding> {
  const { host } = new URL(config.redisUrl ?? "");
  try {
    if (redis.health.kind === "down") {
      throw new Error(redis.health.why);
    }
    const info = String(await redis.ask("INFO", []));
    const [, version = "of an unknown version"] = /^(?:valkey|redis)_version:(\S+)/m.exec(info) ?? [];
    yield redis.health.kind === "up"
      ? good(part, `${host} answers and takes writes (version ${version})`)
      : bad(
          part,
          `${host} does not take writes: ${redis.health.why}`,
          "Until it does, each node counts for itself, and no key can be made.",
        );
    const pepperCheck = await readPepperCheck(redis);
    const wrong = pepperCheck === undefined ? undefined : whyWrongPepper(pepperCheck, config);
    if (wrong) {
      yield bad(part, wrong.found, wrong.advice);
    }
    yield policyFinding(/^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? "unknown", config);
  } catch (error) {
    yield bad(
      part,
      `${host} cannot be asked: ${messageOf(error)}`,
      "Start it, or open the way to it. Without it each node counts for itself, and keys are known only where they were seen last.",
    );
  }
}

/** API keys are in Redis alone. */
function policyFinding(policy: string, { access }: Config): Finding {
  if (policy === "noeviction" || policy.startsWith("volatile-")) {
    return good(part, `maxmemory-policy ${policy} evicts no API keys`);
  }
  const found = `maxmemory-policy ${policy} may evict API keys`;
  const advice = "An API key that is evicted is lost: set noeviction or volatile-lru.";
  return access === "open" ? note(part, found, advice) : bad(part, found, advice);
}
