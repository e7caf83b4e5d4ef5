import { createHash } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { Meter } from "../../metrics/meter.ts";
import { type Client, failureOf, isUnknownScript, targetOf, within } from "./client.ts";
import { Silence } from "./explain-failure.ts";
import {
  keepConnection,
  type RedisChanges,
  type RedisHealth,
  type RedisTimes,
  redisTimes,
} from "./kept-connection.ts";
import { createOperations, RedisUnavailable } from "./operation.ts";

interface RedisOptions {
  /** `redis://user:password@host:6379/0`, or `rediss://` for TLS. */
  readonly url: string;
  /** In front of every key and channel. */
  readonly prefix: string;
  readonly times?: Partial<RedisTimes>;
  /** Told of every operation. */
  readonly meter?: Pick<Meter, "redisOperation"> | undefined;
}

/** A script that Redis runs as one step. */
export interface RedisScript {
  /** What it does, as metrics and traces call it: `find_key`. */
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
}

export function redisScript(name: string, source: string): RedisScript {
  return { name, source, sha1: createHash("sha1").update(source).digest("hex") };
}

/**
 * A Redis or Valkey that several nodes share, over one connection that is made anew for as long as it takes. Nothing waits
 * for it without a bound, and nothing is kept to be sent later: while it cannot be asked, everything is refused at once.
 * What was refused for want of an answer may have been done all the same.
 */
export interface Redis extends Disposable {
  readonly health: RedisHealth;
  /** Emits `change` when the health is another, or its reason, and `refused`, once for each, when Redis refuses a command and not others. */
  readonly changes: EventEmitter<RedisChanges>;
  /**
   * One command, with names of keys before all else, which get the prefix.
   *
   * @param maxMs how long the answer is waited for, at most {@link redisTimes}.operationMaxMs. The connection is given up
   * where that passes in vain; shorter ones are for whoever has something better to do than to wait.
   * @throws StoreUnavailable
   */
  ask(
    command: string,
    keys: readonly string[],
    args?: readonly (string | number)[],
    maxMs?: number,
  ): Promise<unknown>;
  /** The same of a script. Its source is sent only where Redis does not have it yet. */
  run(
    script: RedisScript,
    keys: readonly string[],
    args?: readonly (string | number)[],
    maxMs?: number,
  ): Promise<unknown>;
  /** What a channel is called in Redis, for scripts that tell something themselves. */
  channelOf(channel: string): string;
  /** Tells all who listen, on whatever node, if Redis is there. Resolves with their number. @throws StoreUnavailable */
  tell(channel: string, message: string): Promise<number>;
  /**
   * Hears what is told from when this has resolved until `leave` is called, but what is told while Redis is away.
   *
   * @throws StoreUnavailable, and listens all the same when Redis is back
   */
  listen(channel: string, hear: (message: string) => void): { readonly heard: Promise<void>; leave(): void };
}

/** Redis cannot be used as it is configured. The message is for the operator, without a secret. */
export class RedisUnusable extends Error {}

/**
 * Connects. Where Redis cannot be reached that is tried again for good, and its health says so meanwhile.
 *
 * @throws RedisUnusable where the first try shows that another will not help
 */
export async function openRedis({ url, prefix, times, meter }: RedisOptions): Promise<Redis> {
  const allTimes = { ...redisTimes, ...times };
  const { operationMaxMs } = allTimes;
  const { database } = targetOf(url);
  const channels = new Map<string, Channel>();
  const operate = createOperations(meter);
  /** Of all databases of one Redis: others may use the same prefix in another. */
  const channelOf = (name: string) => `${prefix}${database}:${name}`;

  function listenAgain(fresh: Client): void {
    for (const [name, channel] of channels) {
      const heard = subscribe(fresh, name, channel.tellAll);
      heard.catch(() => {});
      channels.set(name, { ...channel, heard });
    }
  }

  const { kept, failure } = await keepConnection({
    url,
    probe: { key: `${prefix}probe`, channel: channelOf("probe") },
    times: allTimes,
    onClient: (fresh) => listenAgain(fresh),
  });
  if (failure?.kind === "unusable") {
    kept[Symbol.dispose]();
    throw new RedisUnusable(failure.why);
  }

  function now(): Client {
    if (kept.client === undefined) {
      const { health } = kept;
      throw new RedisUnavailable("why" in health ? health.why : "it cannot be asked", "away");
    }
    return kept.client;
  }

  async function send(words: readonly string[], maxMs: number): Promise<unknown> {
    const asked = now();
    try {
      return await within(maxMs, asked.sendCommand(words), () => new Silence(maxMs));
    } catch (error) {
      if (isUnknownScript(error)) {
        throw error;
      }
      const failure = failureOf(error);
      // Who could not wait for long says nothing of Redis.
      if (!(error instanceof Silence) || maxMs >= operationMaxMs) {
        kept.judge(asked, failure);
      }
      throw new RedisUnavailable(failure.why, failure.name);
    }
  }

  /** Lets Redis tell of a channel, for as long as this connection lasts. */
  async function subscribe(asked: Client, channel: string, tellAll: Hear): Promise<void> {
    try {
      const heard = asked.subscribe(channelOf(channel), tellAll);
      await within(operationMaxMs, heard, () => new Silence(operationMaxMs));
    } catch (error) {
      const failure = failureOf(error);
      kept.lose(asked, failure);
      throw new RedisUnavailable(failure.why, failure.name);
    }
  }

  return {
    get health() {
      return kept.health;
    },
    changes: kept.changes,
    ask: (command, keys, args = [], maxMs = operationMaxMs) =>
      operate(command, undefined, () =>
        send([command, ...keys.map((key) => prefix + key), ...args.map(String)], maxMs),
      ),
    run({ name, source, sha1 }, keys, args = [], maxMs = operationMaxMs) {
      const rest = [String(keys.length), ...keys.map((key) => prefix + key), ...args.map(String)];
      return operate("EVALSHA", name, async () => {
        try {
          return await send(["EVALSHA", sha1, ...rest], maxMs);
        } catch (error) {
          if (isUnknownScript(error)) {
            return send(["EVAL", source, ...rest], maxMs);
          }
          throw error;
        }
      });
    },
    channelOf,
    tell: async (channel, message) =>
      Number(
        await operate("PUBLISH", undefined, () =>
          send(["PUBLISH", channelOf(channel), message], operationMaxMs),
        ),
      ),
    listen(channel, hear) {
      const { hearers, tellAll, ...known } = channels.get(channel) ?? createChannel();
      hearers.add(hear);
      const heard =
        known.heard ?? operate("SUBSCRIBE", undefined, async () => subscribe(now(), channel, tellAll));
      // Whoever does not care hears it when Redis is back.
      heard.catch(() => {});
      channels.set(channel, { hearers, tellAll, heard });
      return {
        heard,
        leave() {
          hearers.delete(hear);
          if (hearers.size === 0 && channels.get(channel)?.hearers === hearers) {
            channels.delete(channel);
            // By its listener: without one the client takes a channel that is asked for before Redis has replied for one that it has.
            // It fails with the connection, which takes what it listened to with it.
            kept.client?.unsubscribe(channelOf(channel), tellAll).catch(() => {});
          }
        },
      };
    },
    [Symbol.dispose]: () => kept[Symbol.dispose](),
  };
}

type Hear = (message: string) => void;

/** Those who listen to one, and the one listener that the client has for all of them. */
interface Channel {
  readonly hearers: Set<Hear>;
  readonly tellAll: Hear;
  readonly heard: Promise<void>;
}

function createChannel(): Omit<Channel, "heard"> & Partial<Pick<Channel, "heard">> {
  const hearers = new Set<Hear>();
  return {
    hearers,
    tellAll(message) {
      for (const hear of hearers) {
        hear(message);
      }
    },
  };
}
