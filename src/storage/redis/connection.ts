import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import { isIP } from "node:net";
import { SpanKind } from "@opentelemetry/api";
import { createClient, ErrorReply } from "@redis/client";
import type { Meter } from "../../metrics/meter.ts";
import { inSpan } from "../../tracing/spans.ts";
import { StoreUnavailable } from "../ports.ts";

/** Milliseconds. */
const redisTimes = {
  /** The longest wait for a reply. A connection that needs longer counts as lost. Callers are promised half a second, timers are late. */
  operationMaxMs: 450,
  /** The longest wait for a connection, and then for the replies to its password and database. */
  connectMaxMs: 1000,
  /** Between two probes. */
  heartbeatMs: 1000,
  /** Between two attempts to connect: the first pause, which doubles each time, and the longest. */
  retryMinMs: 50,
  retryMaxMs: 500,
} as const;

/** Tests shorten them. */
export type RedisTimes = { readonly [Time in keyof typeof redisTimes]: number };

interface RedisOptions {
  /** `redis://user:password@host:6379/0`, or `rediss://` for TLS. */
  readonly url: string;
  /** In front of every key and channel. */
  readonly prefix: string;
  readonly times?: Partial<RedisTimes>;
  readonly meter?: Pick<Meter, "redisOperation"> | undefined;
}

/** `why` is for the operator, mostly in the words of Redis. */
type RedisHealth =
  | { readonly kind: "up" }
  /** Redis answers, and refuses writes: it is full, read-only, cannot save, or its user lacks a right. */
  | { readonly kind: "unwritable"; readonly why: string }
  | { readonly kind: "down"; readonly why: string };

interface RedisChanges {
  /** The health, or its reason, has changed. */
  change: [];
  /** Redis refused one command, and works otherwise. Emitted once for each reason. */
  refused: [why: string];
}

/** A script that Redis runs as one step. */
export interface RedisScript {
  /** The name in metrics and traces: `find_key`. */
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
}

export function redisScript(name: string, source: string): RedisScript {
  return { name, source, sha1: hash("sha1", source) };
}

/**
 * A Redis or Valkey that several nodes share, over one connection. No call waits longer than `operationMaxMs`, and no
 * call is queued: while Redis is down, every call fails at once. Redis may have run a command whose reply was lost.
 */
export interface Redis extends Disposable {
  readonly health: RedisHealth;
  readonly changes: EventEmitter<RedisChanges>;
  /**
   * Sends one command. Keys come before all other arguments, and get the prefix.
   *
   * @param maxMs a shorter wait than `operationMaxMs`, for a caller that can do without the reply: the connection stays
   * @throws StoreUnavailable
   */
  ask(
    command: string,
    keys: readonly string[],
    args?: readonly (string | number)[],
    maxMs?: number,
  ): Promise<unknown>;
  /** Runs a script. Its source is sent only if Redis does not have it. @throws StoreUnavailable */
  run(
    script: RedisScript,
    keys: readonly string[],
    args?: readonly (string | number)[],
    maxMs?: number,
  ): Promise<unknown>;
  /** The name of a channel in Redis, for scripts that publish. */
  channelOf(channel: string): string;
  /** Publishes to all nodes. Resolves with the number of subscribers. @throws StoreUnavailable */
  tell(channel: string, message: string): Promise<number>;
  /**
   * Subscribes until `leave` is called. Messages that are published while Redis is down are lost.
   *
   * `heard` resolves when Redis has confirmed. It rejects with StoreUnavailable if Redis is down, and the subscription
   * begins when Redis is back.
   */
  listen(channel: string, hear: (message: string) => void): { readonly heard: Promise<void>; leave(): void };
}

/** Redis cannot be used as it is configured, and waiting changes nothing. The message has no secret. */
export class RedisUnusable extends Error {}

/** Redis was not asked, did not reply, or refused. */
class RedisUnavailable extends StoreUnavailable {
  /** For metrics: `away` if the call was not sent, `timeout`, `lost`, or the error code of Redis: `oom`. */
  readonly reason: string;

  constructor(why: string, reason: string) {
    super(`Redis: ${why}`);
    this.reason = reason;
  }
}

class Timeout extends Error {
  constructor(maxMs: number) {
    super(`it has not answered within ${maxMs} ms`);
  }
}

/** Error codes that concern all writes, or all commands. Other refusals concern one command. */
const refusals: Readonly<Record<string, "unwritable" | "down">> = {
  readonly: "unwritable",
  noreplicas: "unwritable",
  oom: "unwritable",
  misconf: "unwritable",
  loading: "down",
  masterdown: "down",
  busy: "down",
};

/** Another Redis may be the primary now, and the name in the URL may lead to it. */
const movedPrimary: ReadonlySet<string | undefined> = new Set(["readonly", "noreplicas"]);

/** Distinct refusals of single commands that are reported. */
const reportedMax = 20;

type Client = ReturnType<typeof newClient>;

/**
 * Connects. If Redis cannot be reached, the connection is retried without end, and the health says why.
 *
 * @throws RedisUnusable if the first attempt shows that a retry would not help
 */
export async function openRedis({ url, prefix, times, meter }: RedisOptions): Promise<Redis> {
  const allTimes = { ...redisTimes, ...times };
  const { operationMaxMs, connectMaxMs, heartbeatMs } = allTimes;
  const changes = new EventEmitter<RedisChanges>().setMaxListeners(0);
  const firstOutcome = Promise.withResolvers<unknown>();
  const subscriptions = new Set<Subscription>();
  const reported = new Set<string>();
  let health: RedisHealth = { kind: "down", why: "it was not reached yet" };
  let reason: string | undefined;
  let client: Client | undefined;

  function become(kind: RedisHealth["kind"], error?: unknown): void {
    const code = error === undefined ? undefined : codeOf(error);
    // A lost connection first times out and is then refused: for the operator, that is one reason.
    const newReason = code === "timeout" ? "lost" : code;
    const isNew = kind !== health.kind || newReason !== reason;
    health = kind === "up" ? { kind } : { kind, why: messageOf(error) };
    reason = newReason;
    firstOutcome.resolve(error);
    if (isNew) {
      changes.emit("change");
    }
  }

  /**
   * Connects by a new client, which looks the name up again. The old client cannot connect again: if it is already
   * trying to, `destroy()` does not end that attempt, and `connect()` would make a second one.
   */
  function connect(): void {
    const replaced = client;
    const fresh = newClient(url, allTimes);
    client = fresh;
    replaced?.destroy();
    let late: NodeJS.Timeout | undefined;
    fresh.on("connect", () => {
      late = setTimeout(() => fresh === client && lose(new Timeout(connectMaxMs)), connectMaxMs).unref();
    });
    fresh.on("error", (error) => {
      clearTimeout(late);
      if (fresh === client) {
        become("down", error);
      }
    });
    fresh.on("ready", () => {
      clearTimeout(late);
      if (fresh !== client) {
        fresh.destroy();
        return;
      }
      // The client itself subscribes again only to channels that Redis has once confirmed to it.
      for (const { name, deliver } of subscriptions) {
        fresh.subscribe(name, deliver).catch(() => {});
      }
      probe();
    });
    fresh.connect().catch(() => {
      // The event `error` has reported it.
    });
  }

  function lose(error: Timeout): void {
    become("down", error);
    connect();
  }

  function beat(): void {
    if (client?.isReady && movedPrimary.has(reason)) {
      connect();
    } else {
      probe();
    }
  }

  /** Writes, because a Redis that is full or read-only still answers reads. */
  function probe(): void {
    if (client?.isReady) {
      const probed = client;
      const words = ["SET", `${prefix}probe`, "", "PX", "1000"];
      call({ command: "SET", isProbe: true }, () => probed.sendCommand(words)).then(
        () => probed === client && become("up"),
        () => {
          // `noteFailure` has judged it.
        },
      );
    }
  }

  /** Sends what `work` sends; counts, times and traces it. @throws StoreUnavailable */
  async function call<T>(operation: Operation, work: (ready: Client) => Promise<T>): Promise<T> {
    const { command, script, isProbe = false } = operation;
    const startedAt = performance.now();
    const name = isProbe ? "probe" : (script ?? command.toLowerCase());
    const count = (failure?: string) =>
      meter?.redisOperation({ name, seconds: (performance.now() - startedAt) / 1000, failure });
    try {
      const reply = await inSpan(
        script === undefined ? command : `${command} ${script}`,
        {
          kind: SpanKind.CLIENT,
          // The conventions of databases have more: they would show what is asked about.
          attributes: {
            "db.system.name": "redis",
            "db.operation.name": command,
            "db.stored_procedure.name": script,
          },
        },
        () => send(operation, work),
      );
      count();
      return reply;
    } catch (error) {
      count(error instanceof RedisUnavailable ? error.reason : "other");
      throw error;
    }
  }

  async function send<T>(
    { maxMs = operationMaxMs, isProbe = false }: Operation,
    work: (ready: Client) => Promise<T>,
  ): Promise<T> {
    const asked = client;
    if (!asked?.isReady || (health.kind === "down" && !isProbe)) {
      throw new RedisUnavailable("why" in health ? health.why : "it is connecting", "away");
    }
    try {
      return await bounded(work(asked), maxMs);
    } catch (error) {
      if (asked === client) {
        noteFailure(error, maxMs >= operationMaxMs, isProbe);
      }
      const why = asked !== client && "why" in health ? health.why : messageOf(error);
      throw new RedisUnavailable(why, codeOf(error));
    }
  }

  /** A lost connection is none of these: the client's event `error` reports it. */
  function noteFailure(error: unknown, hadFullTime: boolean, isProbe: boolean): void {
    const why = messageOf(error);
    const refused = refusals[codeOf(error)] ?? (isProbe ? "unwritable" : undefined);
    if (error instanceof Timeout && hadFullTime) {
      lose(error);
    } else if (error instanceof ErrorReply && refused !== undefined) {
      become(refused, error);
    } else if (error instanceof ErrorReply && !reported.has(why) && reported.size < reportedMax) {
      reported.add(why);
      changes.emit("refused", why);
    }
  }

  /** Other databases of the same Redis see the same channels, and may use the same prefix. */
  const database = Number(new URL(url).pathname.slice(1));
  const channelOf = (name: string) => `${prefix}${database}:${name}`;

  connect();
  const error = await firstOutcome.promise;
  const heart = setInterval(beat, heartbeatMs);
  const redis: Redis = {
    get health() {
      return health;
    },
    changes,
    ask: (command, keys, args = [], maxMs) => {
      const words = [command, ...keys.map((key) => prefix + key), ...args.map(String)];
      return call<unknown>({ command, maxMs }, (ready) => ready.sendCommand(words));
    },
    run({ name, source, sha1 }, keys, args = [], maxMs) {
      const rest = [String(keys.length), ...keys.map((key) => prefix + key), ...args.map(String)];
      return call<unknown>({ command: "EVALSHA", script: name, maxMs }, (ready) =>
        ready.sendCommand(["EVALSHA", sha1, ...rest]).catch((error) => {
          if (codeOf(error) !== "noscript") {
            throw error;
          }
          return ready.sendCommand(["EVAL", source, ...rest]);
        }),
      );
    },
    channelOf,
    tell: (channel, message) =>
      call({ command: "PUBLISH" }, async (ready) =>
        Number(await ready.sendCommand(["PUBLISH", channelOf(channel), message])),
      ),
    listen(channel, hear) {
      const name = channelOf(channel);
      const subscription: Subscription = {
        name,
        deliver: (message) => subscriptions.has(subscription) && hear(message),
      };
      const { deliver } = subscription;
      subscriptions.add(subscription);
      const heard = call({ command: "SUBSCRIBE" }, (ready) => ready.subscribe(name, deliver));
      heard.catch(() => {});
      return {
        heard,
        leave() {
          subscriptions.delete(subscription);
          client?.unsubscribe(name, deliver).catch(() => {});
        },
      };
    },
    [Symbol.dispose]() {
      clearInterval(heart);
      client?.destroy();
      client = undefined;
      health = { kind: "down", why: "its connection was closed" };
    },
  };
  if (isUnusable(error)) {
    redis[Symbol.dispose]();
    throw new RedisUnusable(messageOf(error));
  }
  return redis;
}

interface Operation {
  /** In capitals: `GET`. */
  readonly command: string;
  /** The name of the script that the command runs. */
  readonly script?: string;
  readonly maxMs?: number | undefined;
  readonly isProbe?: boolean;
}

interface Subscription {
  readonly name: string;
  readonly deliver: (message: string) => void;
}

function newClient(url: string, { connectMaxMs, retryMinMs, retryMaxMs }: RedisTimes) {
  const { protocol, hostname } = new URL(url);
  const socket = {
    connectTimeout: connectMaxMs,
    // With jitter, so that nodes that lost Redis together do not come back together.
    reconnectStrategy: (retries: number) =>
      Math.min(retryMaxMs, retryMinMs * 2 ** retries) * (0.5 + Math.random() / 2),
  };
  const host = hostname.replace(/^\[|\]$/g, "");
  return createClient({
    url,
    socket: protocol === "rediss:" ? { ...socket, tls: true, servername: isIP(host) ? "" : host } : socket,
    name: "kibitz",
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    commandOptions: { timeout: 0 },
  });
}

/** A reply that arrived while this process was busy still counts: it is read before the immediate runs. */
async function bounded<T>(reply: Promise<T>, maxMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => reject(new Timeout(maxMs))), maxMs);
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** In lower case: the first word of a refusal, `timeout`, or `lost` if the connection failed. */
function codeOf(error: unknown): string {
  if (error instanceof ErrorReply) {
    return (/^[A-Z]+/.exec(error.message)?.[0] ?? "ERR").toLowerCase();
  }
  return error instanceof Timeout ? "timeout" : "lost";
}

function messageOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // If all addresses of a name refuse the connection, Node's error has only a code. Redis adds the line of a script.
  return (message || code || "the connection failed").replace(/ script: .*/, "").slice(0, 300);
}

/** The URL, the rights or the certificate are wrong, or it is no primary: waiting changes nothing. */
function isUnusable(error: unknown): boolean {
  return error instanceof ErrorReply
    ? /^(WRONGPASS|NOAUTH|NOPERM|NOPROTO|READONLY|MOVED|CLUSTERDOWN|ERR (unknown command|.*DB index))/.test(
        error.message,
      )
    : error instanceof Error &&
        "code" in error &&
        /CERT|SIGNATURE|ISSUER|^ERR_(TLS|SSL)_/.test(String(error.code));
}
