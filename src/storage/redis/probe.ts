import { hash } from "node:crypto";
import { type Client, failureOf, isRefusal, within } from "./client.ts";
import { isTooOld, type RedisFailure, Silence, TooOld } from "./explain-failure.ts";

/** Every command that scripts use, on names that end with their lifetime: what a user may not do is found before it is needed. */
const everything = `
local text, hash, set = KEYS[1], KEYS[2], KEYS[3]
redis.call('SET', text, '', 'PX', 1000)
redis.call('HINCRBY', hash, 'a', 1)
redis.call('PEXPIRE', hash, 1000)
redis.call('ZADD', set, 1, 'a')
redis.call('PEXPIRE', set, 1000)
redis.call('GET', text)
redis.call('MGET', text)
redis.call('PTTL', text)
redis.call('EXISTS', text)
redis.call('HSET', hash, 'b', 'b')
redis.call('HSETNX', hash, 'b', 'b')
redis.call('HGET', hash, 'a')
redis.call('HMGET', hash, 'a')
redis.call('HGETALL', hash)
redis.call('HDEL', hash, 'a')
redis.call('ZCARD', set)
redis.call('ZCOUNT', set, 0, 1)
redis.call('ZRANGE', set, 0, -1)
redis.call('ZRANGEBYSCORE', set, 0, 1)
redis.call('ZREVRANGEBYSCORE', set, 1, 0)
redis.call('ZREMRANGEBYSCORE', set, 0, 0)
redis.call('ZREM', set, 'a')
redis.call('DEL', text)
redis.call('PUBLISH', ARGV[1], '')
redis.call('TIME')`;

/** As short as one can be. */
const least = "return 1";
const sha1 = (text: string) => hash("sha1", text, "hex");

/** What is tried, and how long an answer is waited for, in milliseconds. */
interface ProbeOptions {
  /** Name of the keys that are written. */
  readonly key: string;
  readonly channel: string;
  readonly maxMs: number;
}

/**
 * Writes once, to see whether that can be done.
 *
 * @returns what Redis refuses it for
 * @throws what keeps Redis from being asked at all
 */
export function probeWriting(
  client: Client,
  { key, maxMs }: ProbeOptions,
): Promise<RedisFailure | undefined> {
  const written = client.sendCommand(["SET", key, "", "PX", "1000"]);
  return refusalOf(within(maxMs, written, () => new Silence(maxMs)));
}

/**
 * Writes, looks at the version, and tries every command and a channel, which a user may lack.
 *
 * @returns what Redis refuses some of it for
 * @throws what keeps Redis from being asked at all; TooOld
 */
export async function probeAll(client: Client, options: ProbeOptions): Promise<RedisFailure | undefined> {
  const refusal = await probeWriting(client, options);
  if (refusal) {
    return refusal;
  }
  const { key, channel, maxMs } = options;
  const heard = client.subscribe(channel, () => {}).then(() => client.unsubscribe(channel));
  const info = client.sendCommand(["INFO", "server"]);
  const keys = [key, `${key}:hash`, `${key}:set`];
  // In this order: the second is known by then.
  const loaded = [
    client.sendCommand(["SCRIPT", "LOAD", least]),
    client.sendCommand(["EVALSHA", sha1(least), "0"]),
  ];
  const run = client.sendCommand(["EVAL", everything, "3", ...keys, channel]);
  const tried = Promise.all([info, run, ...loaded, heard]);
  let told: unknown;
  const refused = await refusalOf(
    within(maxMs, tried, () => new Silence(maxMs)).then(([first]) => {
      told = first;
    }),
  );
  if (refused === undefined && isTooOld(String(told))) {
    throw new TooOld();
  }
  return refused;
}

async function refusalOf(tried: Promise<unknown>): Promise<RedisFailure | undefined> {
  try {
    await tried;
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === "unavailable" || !isRefusal(error)) {
      throw error;
    }
    return failure;
  }
}
