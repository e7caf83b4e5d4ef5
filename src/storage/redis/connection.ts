import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import { StoreUnavailable } from "../ports.ts";
import {
  type Client,
  failureOf,
  isReadOnly,
  isUnknownScript,
  newClient,
  Silence,
  targetOf,
  within,
} from "./client.ts";
import type { RedisFailure } from "./explain-failure.ts";
import { probeTheRest, probeWriting } from "./probe.ts";

/** What is waited for, and how long, in milliseconds. */
export const redisTimes = {
  /** An answer, before the connection is taken for dead and made anew. */
  operationMaxMs: 500,
  /** A connection, with TLS and password. */
  connectMaxMs: 1000,
  /** Between two looks whether it is there, and while it takes no writes, whether it does again. */
  heartbeatMs: 1000,
  /** Between two tries to connect: this first, twice as long each time. */
  retryMinMs: 50,
  retryMaxMs: 1000,
} as const;

/** As {@link redisTimes}; tests make them short. */
export type RedisTimes = { readonly [Time in keyof typeof redisTimes]: number };

export interface RedisOptions {
  /** `redis://user:password@host:6379/0`, or `rediss://` for TLS. */
  readonly url: string;
  /** In front of every key and channel. */
  readonly prefix: string;
  readonly times?: Partial<RedisTimes>;
}

/** How the store does. `why` is for the operator. */
export type RedisHealth =
  | { readonly kind: "up" }
  /** It can be read, and keeps nothing: full, or not able to save. */
  | { readonly kind: "unwritable"; readonly why: string }
  | { readonly kind: "down"; readonly why: string };

/** A script that Redis runs as one step. */
export interface RedisScript {
  /** For people who see it asked. */
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
}

export function redisScript(name: string, source: string): RedisScript {
  return { name, source, sha1: createHash("sha1").update(source).digest("hex") };
}

interface Changes {
  change: [];
  refused: [why: string];
}

/** Reasons that are remembered, lest they are told again. */
const refusalsMax = 20;

/**
 * A Redis or Valkey that several nodes share, over one connection that is made anew for as long as it takes. Nothing waits
 * for it without a bound, and nothing is kept to be sent later: while it cannot be asked, everything is refused at once.
 * What was refused for want of an answer may have been done all the same.
 */
export interface Redis extends Disposable {
  readonly health: RedisHealth;
  /** Emits `change` when the health is another, and `refused`, once for each reason, when Redis refuses a command and not others. */
  readonly changes: EventEmitter<Changes>;
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
export async function openRedis({ url, prefix, times }: RedisOptions): Promise<Redis> {
  const { operationMaxMs, connectMaxMs, heartbeatMs, retryMinMs, retryMaxMs } = { ...redisTimes, ...times };
  const { database, ...target } = targetOf(url);
  const changes = new EventEmitter<Changes>();
  changes.setMaxListeners(0);
  const channels = new Map<string, { readonly hearers: Hearers; readonly heard: Promise<void> }>();
  let health: RedisHealth = { kind: "down", why: "it was not reached yet" };
  /** There while Redis can be asked. */
  let client: Client | undefined;
  let connecting: Client | undefined;
  const refusals = new Set<string>();
  /** Since a connection has lasted until its first heartbeat. */
  let retries = 0;
  let retrying: NodeJS.Timeout | undefined;
  let closed = false;

  function become(next: RedisHealth): void {
    const isNew = next.kind !== health.kind;
    health = next;
    if (isNew) {
      changes.emit("change");
    }
  }

  /** Resolves once it is clear whether Redis is there; then it goes on by itself. */
  async function connect(): Promise<RedisFailure | undefined> {
    const fresh = newClient({ ...target, database, connectMaxMs });
    let broken: unknown;
    fresh.on("error", (error) => {
      broken = error;
      lose(fresh, error);
    });
    connecting = fresh;
    const opened = fresh.connect();
    // One that comes too late would else stay open.
    opened.then(
      () => closed && fresh.destroy(),
      () => {},
    );
    try {
      await within(connectMaxMs, opened, () => new Silence(connectMaxMs));
      const refusal = await tryToWrite(fresh);
      await probeTheRest(fresh, channelOf("probe"), operationMaxMs);
      if (broken || closed) {
        throw broken ?? new Error("closed");
      }
      client = fresh;
      for (const [channel, { hearers }] of channels) {
        const heard = subscribe(fresh, channel, hearers);
        heard.catch(() => {});
        channels.set(channel, { hearers, heard });
      }
      become(refusal ? { kind: "unwritable", why: refusal.why } : { kind: "up" });
      return undefined;
    } catch (error) {
      fresh.destroy();
      opened.then(
        () => fresh.destroy(),
        () => {},
      );
      const failure = failureOf(error);
      become({ kind: "down", why: failure.why });
      tryAgain();
      return failure;
    } finally {
      connecting = undefined;
    }
  }

  function tryAgain(): void {
    if (!closed) {
      const longest = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(retries, 20));
      retries++;
      // Nodes that have lost it together do not come back together.
      retrying = setTimeout(() => void connect(), longest * (0.5 + Math.random() / 2));
    }
  }

  function lose(lost: Client, error: unknown): void {
    if (lost === client) {
      client = undefined;
      lost.destroy();
      become({ kind: "down", why: failureOf(error).why });
      tryAgain();
    }
  }

  const tryToWrite = (fresh: Client) => probeWriting(fresh, `${prefix}probe`, operationMaxMs);

  async function send(words: readonly string[], maxMs: number): Promise<unknown> {
    const asked = client;
    if (asked === undefined) {
      throw unavailable(health);
    }
    try {
      return await within(maxMs, asked.sendCommand(words), () => new Silence(maxMs));
    } catch (error) {
      if (isUnknownScript(error)) {
        throw error;
      }
      const { kind, why } = failureOf(error);
      if (kind === "unwritable" || isReadOnly(error)) {
        become({ kind: "unwritable", why });
      } else if (error instanceof Silence ? maxMs >= operationMaxMs : kind === "unavailable") {
        lose(asked, error);
      } else if (kind !== "unavailable" && !refusals.has(why) && refusals.size < refusalsMax) {
        refusals.add(why);
        changes.emit("refused", why);
      }
      throw unavailable({ why });
    }
  }

  async function beat(): Promise<void> {
    const asked = client;
    if (asked === undefined) {
      return;
    }
    if (health.kind === "up") {
      await send(["PING"], operationMaxMs).then(
        () => {
          retries = 0;
        },
        () => {},
      );
      return;
    }
    try {
      const refusal = await tryToWrite(asked);
      retries = 0;
      if (asked === client) {
        become(refusal ? { kind: "unwritable", why: refusal.why } : { kind: "up" });
      }
    } catch (error) {
      if (!isReadOnly(error)) {
        lose(asked, error);
      }
    }
  }

  /** Of all databases of one Redis: others may use the same prefix in another. */
  const channelOf = (name: string) => `${prefix}${database}:${name}`;

  /** Lets Redis tell of a channel, for as long as this connection lasts. */
  async function subscribe(asked: Client | undefined, channel: string, hearers: Hearers): Promise<void> {
    if (asked === undefined) {
      throw unavailable(health);
    }
    const tellAll = (message: string) => {
      for (const hear of hearers) {
        hear(message);
      }
    };
    try {
      const heard = asked.subscribe(channelOf(channel), tellAll);
      await within(operationMaxMs, heard, () => new Silence(operationMaxMs));
    } catch (error) {
      lose(asked, error);
      throw unavailable(failureOf(error));
    }
  }

  const failure = await connect();
  const heart = setInterval(() => void beat(), heartbeatMs);
  const redis: Redis = {
    get health() {
      return health;
    },
    changes,
    ask: (command, keys, args = [], maxMs = operationMaxMs) =>
      send([command, ...keys.map((key) => prefix + key), ...args.map(String)], maxMs),
    async run({ source, sha1 }, keys, args = [], maxMs = operationMaxMs) {
      const rest = [String(keys.length), ...keys.map((key) => prefix + key), ...args.map(String)];
      try {
        return await send(["EVALSHA", sha1, ...rest], maxMs);
      } catch (error) {
        if (isUnknownScript(error)) {
          return send(["EVAL", source, ...rest], maxMs);
        }
        throw error;
      }
    },
    channelOf,
    tell: async (channel, message) =>
      Number(await send(["PUBLISH", channelOf(channel), message], operationMaxMs)),
    listen(channel, hear) {
      const known = channels.get(channel);
      const hearers: Hearers = known?.hearers ?? new Set();
      hearers.add(hear);
      const heard = known?.heard ?? subscribe(client, channel, hearers);
      // Whoever does not care hears it when Redis is back.
      heard.catch(() => {});
      channels.set(channel, { hearers, heard });
      return {
        heard,
        leave() {
          hearers.delete(hear);
          if (hearers.size === 0 && channels.get(channel)?.hearers === hearers) {
            channels.delete(channel);
            // It fails with the connection, which takes what it listened to with it.
            client?.unsubscribe(channelOf(channel)).catch(() => {});
          }
        },
      };
    },
    [Symbol.dispose]() {
      closed = true;
      clearInterval(heart);
      clearTimeout(retrying);
      connecting?.destroy();
      client?.destroy();
      client = undefined;
      health = { kind: "down", why: "it is not used any more" };
    },
  };
  if (failure?.kind === "unusable") {
    redis[Symbol.dispose]();
    throw new RedisUnusable(failure.why);
  }
  return redis;
}

type Hearers = Set<(message: string) => void>;

function unavailable(failure: RedisHealth | { readonly why: string }): StoreUnavailable {
  return new StoreUnavailable(`Redis: ${"why" in failure ? failure.why : "it cannot be asked"}`);
}
