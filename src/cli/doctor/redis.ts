import { silentLog } from "../../log/log.ts";
import type { Redis } from "../../storage/redis/connection.ts";
import { readPepperCheck } from "../../storage/redis/key-store.ts";
import { textsOf } from "../../storage/redis/replies.ts";
import { whyWrongPepper } from "../../wiring/access.ts";
import { ConfigError } from "../../wiring/config.ts";
import { connectRedis } from "../../wiring/redis.ts";
import type { Config } from "../../wiring/settings.ts";
import { bad, type Finding, good, messageOf, note } from "./finding.ts";
import { thisMachine } from "./machine.ts";

const part = "redis";

/** Of the round trips that are measured, the one in the middle is told. */
const roundTrips = 9;
/** A request waits for one or two of them: more than that is felt. Milliseconds. */
const roundTripMaxMs = 5;
/** Clocks that differ by more show that one of them is wrong. Milliseconds. */
const clocksMaxMs = 2000;
/** More than this share of its memory in use is nearly full. */
const fullShare = 0.8;

/** What nodes share, where the settings name it. */
export async function* lookAtRedis(config: Config): AsyncIterable<Finding> {
  try {
    using redis = await connectRedis(config, silentLog);
    if (redis) {
      yield* lookAt(redis, config);
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    yield bad(part, error.message, "The service does not start so: mend KIBITZ_REDIS_URL, or what it names.");
  }
}

async function* lookAt(redis: Redis, config: Config): AsyncIterable<Finding> {
  const { host } = new URL(config.redisUrl ?? "");
  try {
    if (redis.health.kind === "down") {
      throw new Error(redis.health.why);
    }
    const tripMs = await roundTripMs(redis);
    const answers = `${host} answers within ${tripMs.toFixed(1)} ms`;
    yield tripMs > roundTripMaxMs
      ? note(part, answers, "Each request waits for an operation or two: put Redis nearer to the nodes.")
      : good(part, answers);
    const info = new Map(
      String(await redis.ask("INFO", []))
        .split("\r\n")
        .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
    );
    yield good(part, versionIn(info));
    yield redis.health.kind === "up"
      ? good(part, "takes writes, and all that Kibitz asks of it")
      : bad(
          part,
          `does not take writes: ${redis.health.why}`,
          "Until it does, each node counts for itself, and no key can be made.",
        );
    const pepperCheck = await readPepperCheck(redis);
    const wrong = pepperCheck === undefined ? undefined : whyWrongPepper(pepperCheck, config);
    if (wrong) {
      yield bad(part, wrong.found, wrong.advice);
    }
    yield policyFinding(info, config);
    yield memoryFinding(info, config);
    yield persistenceFinding(info);
    yield clockFinding(await aheadMs(redis));
  } catch (error) {
    yield bad(
      part,
      `${host} cannot be asked: ${messageOf(error)}`,
      "Start it, or open the way to it. Without it each node counts for itself, and keys are known only where they were seen last.",
    );
  }
}

async function roundTripMs(redis: Redis): Promise<number> {
  const tookMs: number[] = [];
  for (let count = 0; count < roundTrips; count++) {
    const askedAt = performance.now();
    await redis.ask("PING", []);
    tookMs.push(performance.now() - askedAt);
  }
  return tookMs.toSorted((one, other) => one - other)[(roundTrips - 1) / 2] ?? 0;
}

/** How far its clock is ahead of this machine's, in milliseconds. */
async function aheadMs(redis: Redis): Promise<number> {
  const before = thisMachine().now;
  const [seconds = Number.NaN, microseconds = Number.NaN] = textsOf(await redis.ask("TIME", [])).map(Number);
  return seconds * 1000 + microseconds / 1000 - (before + thisMachine().now) / 2;
}

type Info = ReadonlyMap<string, string>;

function versionIn(info: Info): string {
  const valkey = info.get("valkey_version");
  return valkey === undefined
    ? `Redis ${info.get("redis_version") ?? "of an unknown version"}`
    : `Valkey ${valkey}`;
}

function policyFinding(info: Info, { access }: Config): Finding {
  const policy = info.get("maxmemory_policy") ?? "unknown";
  const found = `maxmemory-policy ${policy}`;
  if (policy === "noeviction") {
    return good(part, `${found}: nothing is evicted`);
  }
  if (policy === "volatile-ttl") {
    const advice =
      "Set volatile-lru: what ends soonest are limits of callers, long before answers that nobody asks for.";
    return note(part, found, advice);
  }
  if (policy.startsWith("volatile-")) {
    return good(part, `${found}: answers and counters may be evicted, and no API keys`);
  }
  const advice = "An API key that is evicted is lost: set noeviction or volatile-lru.";
  return access === "open"
    ? note(part, found, advice)
    : bad(part, `${found}: API keys may be evicted`, advice);
}

const inMb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function memoryFinding(info: Info, { redisAnswersMb }: Config): Finding {
  const used = Number(info.get("used_memory") ?? 0);
  const max = Number(info.get("maxmemory") ?? 0);
  const evicts = info.get("maxmemory_policy") !== "noeviction";
  if (max === 0) {
    return good(part, `${inMb(used)} of memory used, without a bound (maxmemory 0)`);
  }
  const found = `${inMb(used)} of ${inMb(max)} memory used`;
  if (!evicts && used > max * fullShare) {
    return note(
      part,
      found,
      "When it is full it takes no writes: raise maxmemory, or set volatile-lru so that answers make room.",
    );
  }
  if (redisAnswersMb * 1e6 > max) {
    return note(
      part,
      `${found}, and answers may take ${redisAnswersMb} MB`,
      "Raise maxmemory, or allow answers less by KIBITZ_REDIS_ANSWERS_MB.",
    );
  }
  return good(part, found);
}

function persistenceFinding(info: Info): Finding {
  return info.get("aof_enabled") === "1"
    ? good(part, "keeps each write on its disk (appendonly)")
    : note(
        part,
        "does not keep each write on its disk (appendonly no)",
        "API keys made since its last snapshot are lost when it dies: set appendonly yes.",
      );
}

function clockFinding(ahead: number): Finding {
  const seconds = (Math.abs(ahead) / 1000).toFixed(1);
  const found = `its clock is ${seconds} s ${ahead < 0 ? "behind" : "ahead of"} this machine's`;
  return Math.abs(ahead) > clocksMaxMs
    ? note(
        part,
        found,
        "Windows end and keys are made by the clock of Redis: set both clocks by the network (NTP).",
      )
    : good(part, found);
}
