import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import { isIP } from "node:net";
import { SpanKind } from "@opentelemetry/api";
import { createClient, ErrorReply } from "@redis/client";
import type { Meter } from "../../metrics/meter.ts";
import { outsideRequests } from "../../request/owner.ts";
import { after, every, now, soon, type Timer } from "../../time/time.ts";
import { inSpan } from "../../tracing/spans.ts";
import { StoreUnavailable } from "../ports.ts";
import { textsOf } from "./replies.ts";

const redisTimes = {
  /** The documentation promises half a second. This timeout is shorter, because timers may fire late. */
  operationMaxMs: 450,
  /** The timeout for connecting, and again for the login. */
  connectMaxMs: 1000,
  /** The timeout of brief commands, which only save time. Waiting longer would take more time than a command saves. */
  boundedCallMaxMs: 100,
  /** After a failure, no brief command is sent for this time. Otherwise, a slow Redis would delay every request. */
  pauseAfterTimeoutMs: 1000,
  heartbeatMs: 1000,
  /** The pause before the second attempt to connect. The pause doubles with each attempt. */
  retryMinMs: 50,
  retryMaxMs: 500,
} as const;

export type RedisTimes = { readonly [Time in keyof typeof redisTimes]: number };

interface RedisOptions {
  /** For example `redis://user:password@host:6379/0`, or `rediss://` for TLS. */
  readonly url: string;
  readonly prefix: string;
  readonly times?: Partial<RedisTimes>;
  readonly meter?: Pick<Meter, "redisOperation"> | undefined;
}

/** The text `why` explains the state to the operator. */
type RedisHealth =
  | { readonly kind: "up" }
  /** Redis rejects writes: out of memory, read-only, cannot save to disk, or missing rights of the user. */
  | { readonly kind: "unwritable"; readonly why: string }
  | { readonly kind: "down"; readonly why: string };

interface RedisChanges {
  change: [];
  /** Redis has rejected one command, but executes other commands. Emitted once for each error message. */
  refused: [why: string];
}

export interface RedisScript {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
}

export function redisScript(name: string, source: string): RedisScript {
  return { name, source, sha1: hash("sha1", source) };
}

/**
 * A Redis or Valkey server that several nodes share. Calls are never queued: while Redis is down, calls fail at once.
 * If a reply is lost, Redis may have executed the command.
 */
export interface Redis extends Disposable {
  readonly health: RedisHealth;
  readonly changes: EventEmitter<RedisChanges>;
  /** Returns milliseconds since 1970 by Redis's clock. Undefined until Redis has replied once. */
  now(): number | undefined;
  /** Returns the time, by Redis's clock, at which a call that is sent now will time out. Undefined before the first reply. */
  deadline(): number | undefined;
  /** Sends a command. Adds the prefix to each key. Throws StoreUnavailable. */
  ask(command: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
  /**
   * Like `ask`, but with a short timeout. Resolves with undefined if the command fails. After a timeout, sends nothing for some
   * time.
   */
  boundedCall(
    command: string,
    keys: readonly string[],
    args?: readonly (string | number)[],
  ): Promise<unknown>;
  /** Sends the source of the script only if Redis does not know its hash. Throws StoreUnavailable. */
  run(script: RedisScript, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
}

/** The configuration of Redis is wrong, so a retry would not help. The message contains no secret. */
export class RedisUnusable extends Error {}

/** The command was not sent, Redis rejected the command, or Redis did not reply. */
class RedisUnavailable extends StoreUnavailable {
  /** `away` if the command was not sent, `timeout`, `lost`, or an error code of Redis such as `oom`. Used in metrics. */
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

/** Error codes of Redis that concern all writes (`unwritable`) or all commands (`down`). Other codes concern one command. */
const refusals: Readonly<Record<string, "unwritable" | "down">> = {
  readonly: "unwritable",
  noreplicas: "unwritable",
  oom: "unwritable",
  misconf: "unwritable",
  loading: "down",
  masterdown: "down",
  busy: "down",
};

/** After these error codes, connect again: the host name in the URL may now point to the new primary. */
const movedPrimary: ReadonlySet<string | undefined> = new Set(["readonly", "noreplicas"]);

const reportedMax = 20;

type Client = ReturnType<typeof newClient>;

/** Retries forever while Redis is unreachable. Throws RedisUnusable if a retry would not help. */
export async function openRedis({ url, prefix, times, meter }: RedisOptions): Promise<Redis> {
  const allTimes = { ...redisTimes, ...times };
  const { operationMaxMs, connectMaxMs, boundedCallMaxMs, pauseAfterTimeoutMs, heartbeatMs } = allTimes;
  const changes = new EventEmitter<RedisChanges>().setMaxListeners(0);
  const firstOutcome = Promise.withResolvers<unknown>();
  const reported = new Set<string>();
  let health: RedisHealth = { kind: "down", why: "it was not reached yet" };
  let reason: string | undefined;
  let client: Client | undefined;
  /** Redis's clock minus `now()`, in milliseconds. Undefined until Redis has replied once. */
  let aheadMs: number | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  function become(kind: RedisHealth["kind"], error?: unknown): void {
    const code = error === undefined ? undefined : codeOf(error);
    // Treat `timeout` and `lost` as the same reason: a broken connection first times out, and new connections are then refused.
    const newReason = code === "timeout" ? "lost" : code;
    const isNew = kind !== health.kind || newReason !== reason;
    health = kind === "up" ? { kind } : { kind, why: messageOf(error) };
    reason = newReason;
    firstOutcome.resolve(error);
    if (isNew) {
      changes.emit("change");
    }
  }

  /** The new client looks up the host name of Redis again. */
  function connect(): void {
    const replaced = client;
    const fresh = newClient(url, allTimes);
    client = fresh;
    replaced?.destroy();
    let late: Timer | undefined;
    fresh.on("connect", () => {
      late = after(connectMaxMs, () => fresh === client && lose(new Timeout(connectMaxMs))).unref();
    });
    fresh.on("error", (error) => {
      late?.cancel();
      if (fresh === client) {
        become("down", error);
      }
    });
    fresh.on("ready", () => {
      late?.cancel();
      if (fresh !== client) {
        fresh.destroy();
        return;
      }
      probe();
    });
    fresh.connect().catch(() => {
      // Ignore the rejection, because the `error` event has already reported this failure.
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

  /** Checks whether Redis works, with a write: a Redis that is full or read-only still replies to reads. */
  function probe(): void {
    const probed = client;
    if (!probed?.isReady) {
      return;
    }
    const sentAt = now();
    const write = ["SET", `${prefix}probe`, "", "PX", "1000"];
    call({ command: "SET", isProbe: true }, () =>
      Promise.all([probed.sendCommand(write), probed.sendCommand(["TIME"])]),
    ).then(
      ([, time]) => {
        const [seconds, microseconds] = textsOf(time).map(Number);
        const timeMs = (seconds ?? Number.NaN) * 1000 + (microseconds ?? 0) / 1000;
        aheadMs = boundOf(aheadMs, { least: timeMs - now(), most: timeMs - sentAt });
        if (probed === client) {
          become("up");
        }
      },
      () => {
        // Ignore the failure, because `noteFailure` has already handled it.
      },
    );
  }

  async function call<T>(operation: Operation, work: (ready: Client) => Promise<T>): Promise<T> {
    const { command, script, isProbe = false } = operation;
    const startedAt = now();
    const name = isProbe ? "probe" : (script ?? command.toLowerCase());
    const count = (failure?: string) =>
      meter?.redisOperation({ name, seconds: (now() - startedAt) / 1000, failure });
    try {
      const reply = await inSpan(
        script === undefined ? command : `${command} ${script}`,
        {
          kind: SpanKind.CLIENT,
          // Leave out other attributes of OpenTelemetry's conventions, which would contain the positions of callers.
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
      // The client sends the commands of many requests together.
      return await bounded(
        outsideRequests(() => work(asked)),
        maxMs,
      );
    } catch (error) {
      if (asked === client) {
        outsideRequests(() => noteFailure(error, maxMs >= operationMaxMs, isProbe));
      }
      const why = asked !== client && "why" in health ? health.why : messageOf(error);
      throw new RedisUnavailable(why, codeOf(error));
    }
  }

  /** Updates the health. Ignores a lost connection, because the client's `error` event reports the loss. */
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

  const askFor = (
    command: string,
    keys: readonly string[],
    args: readonly (string | number)[],
    maxMs?: number,
  ) =>
    call<unknown>({ command, maxMs }, (ready) =>
      ready.sendCommand([command, ...keys.map((key) => prefix + key), ...args.map(String)]),
    );

  connect();
  const error = await firstOutcome.promise;
  const heart = every(heartbeatMs, beat);
  const redis: Redis = {
    get health() {
      return health;
    },
    changes,
    now: () => (aheadMs === undefined ? undefined : now() + aheadMs),
    deadline: () => (aheadMs === undefined ? undefined : now() + aheadMs + operationMaxMs),
    ask: (command, keys, args = []) => askFor(command, keys, args),
    async boundedCall(command, keys, args = []) {
      if (health.kind === "down" || now() < pausedUntil) {
        return undefined;
      }
      try {
        return await askFor(command, keys, args, boundedCallMaxMs);
      } catch {
        // Ignore the error: it was logged, or Redis was only slow.
        pausedUntil = now() + pauseAfterTimeoutMs;
        return undefined;
      }
    },
    run({ name, source, sha1 }, keys, args = []) {
      const rest = [String(keys.length), ...keys.map((key) => prefix + key), ...args.map(String)];
      return call<unknown>({ command: "EVALSHA", script: name }, (ready) =>
        ready.sendCommand(["EVALSHA", sha1, ...rest]).catch((error) => {
          if (codeOf(error) !== "noscript") {
            throw error;
          }
          return ready.sendCommand(["EVAL", source, ...rest]);
        }),
      );
    },
    [Symbol.dispose]() {
      heart.cancel();
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

/**
 * Returns a lower bound of the time by which Redis's clock is ahead: with a higher value, a call could be executed after its
 * timeout. Redis has read its clock at an unknown time between the probe (`most`) and the reply (`least`), so a bound from an
 * earlier and faster reply is better, unless the clock was set.
 */
function boundOf(known: number | undefined, { least, most }: { least: number; most: number }): number {
  return known !== undefined && known <= most ? Math.max(known, least) : least;
}

interface Operation {
  readonly command: string;
  readonly script?: string;
  readonly maxMs?: number | undefined;
  readonly isProbe?: boolean;
}

function newClient(url: string, { connectMaxMs, retryMinMs, retryMaxMs }: RedisTimes) {
  const { protocol, hostname } = new URL(url);
  const socket = {
    connectTimeout: connectMaxMs,
    // Add jitter, so that nodes that have lost Redis at the same time do not reconnect at the same time.
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

/** Rejects with a Timeout after `maxMs`. Accepts a reply that arrived in time, but was read late by a busy thread. */
async function bounded<T>(reply: Promise<T>, maxMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = after(maxMs, () => soon(() => reject(new Timeout(maxMs))));
  try {
    return await Promise.race([reply, late]);
  } finally {
    timer.cancel();
  }
}

/** Returns the error code of Redis in lower case, `timeout`, or `lost` for a broken connection. */
function codeOf(error: unknown): string {
  if (error instanceof ErrorReply) {
    return (/^[A-Z]+/.exec(error.message)?.[0] ?? "ERR").toLowerCase();
  }
  return error instanceof Timeout ? "timeout" : "lost";
}

function messageOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // If all addresses of a host refuse the connection, Node's error has a code but no message.
  return (message || code || "the connection failed").replace(/ script: .*/, "").slice(0, 300);
}

/** True if the URL, user rights or certificate are wrong, or if the server is a replica or cluster. */
function isUnusable(error: unknown): boolean {
  return error instanceof ErrorReply
    ? /^(WRONGPASS|NOAUTH|NOPERM|NOPROTO|READONLY|MOVED|CLUSTERDOWN|ERR (unknown command|.*DB index))/.test(
        error.message,
      )
    : error instanceof Error &&
        "code" in error &&
        /CERT|SIGNATURE|ISSUER|^ERR_(TLS|SSL)_/.test(String(error.code));
}
