import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import { isIP } from "node:net";
import { SpanKind } from "@opentelemetry/api";
import { createClient, ErrorReply } from "@redis/client";
import type { Meter } from "../../metrics/meter.ts";
import { inSpan } from "../../tracing/spans.ts";
import { StoreUnavailable } from "../ports.ts";
import { textsOf } from "./replies.ts";

const redisTimes = {
  /** The longest wait for a reply: less than the promised half second, because timers may fire late. */
  operationMaxMs: 450,
  /** The longest wait for a connection, and then for the replies about the password and the database. */
  connectMaxMs: 1000,
  /** The reply to a brief call only saves time, so waiting for a slow Redis must not cost more time than that. */
  briefMaxMs: 100,
  /** The pause of brief calls after one has failed: a slow Redis delays only one of them in this time. */
  briefRestMs: 1000,
  heartbeatMs: 1000,
  /** The pause between attempts to connect doubles each time. */
  retryMinMs: 50,
  retryMaxMs: 500,
} as const;

/** Tests use shorter timeouts and intervals. */
export type RedisTimes = { readonly [Time in keyof typeof redisTimes]: number };

interface RedisOptions {
  /** The URL of the server: `redis://user:password@host:6379/0`, or `rediss://` for TLS. */
  readonly url: string;
  readonly prefix: string;
  readonly times?: Partial<RedisTimes>;
  readonly meter?: Pick<Meter, "redisOperation"> | undefined;
}

/** The reason `why` is for the operator, usually in the words of Redis. */
type RedisHealth =
  | { readonly kind: "up" }
  /** Redis answers but rejects writes, because it is full or read-only, cannot save, or its user lacks a right. */
  | { readonly kind: "unwritable"; readonly why: string }
  | { readonly kind: "down"; readonly why: string };

interface RedisChanges {
  /** The health, or the reason for it, has changed. */
  change: [];
  /** Redis rejected one command, and works otherwise. Emitted once for each reason. */
  refused: [why: string];
}

export interface RedisScript {
  /** The name in metrics and traces, such as `find_key_by_hash`. */
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
}

export function redisScript(name: string, source: string): RedisScript {
  return { name, source, sha1: hash("sha1", source) };
}

/**
 * One connection to a Redis or Valkey that several nodes share. No call waits longer than `operationMaxMs`, and none is queued:
 * while Redis is down, every call fails at once. If a reply is lost, Redis may still have run the command.
 */
export interface Redis extends Disposable {
  readonly health: RedisHealth;
  readonly changes: EventEmitter<RedisChanges>;
  /** Returns milliseconds since 1970 by Redis's clock, which all nodes share; undefined until Redis has answered once. */
  now(): number | undefined;
  /** Returns the deadline of a call that is sent now, by Redis's clock; undefined until Redis has answered once. */
  deadline(): number | undefined;
  /** Sends one command. Keys come first, and get the prefix. Throws StoreUnavailable. */
  ask(command: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
  /** Never rejects: resolves with undefined if Redis is down or slow, or was so a moment ago. Keeps the connection open. */
  askBriefly(command: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
  /** Sends the source only if Redis does not know the script. Throws StoreUnavailable. */
  run(script: RedisScript, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
}

/** Redis cannot be used as configured, so waiting would not help. The message contains no secret. */
export class RedisUnusable extends Error {}

/** The call was not sent to Redis, or Redis did not reply or rejected it. */
class RedisUnavailable extends StoreUnavailable {
  /** For metrics: `away` if the call was not sent, `timeout`, `lost`, or an error code of Redis such as `oom`. */
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

/** Error codes of Redis that concern all writes or all commands. Every other code concerns a single command. */
const refusals: Readonly<Record<string, "unwritable" | "down">> = {
  readonly: "unwritable",
  noreplicas: "unwritable",
  oom: "unwritable",
  misconf: "unwritable",
  loading: "down",
  masterdown: "down",
  busy: "down",
};

/** If Redis answers with these codes, another server may be the primary, to which the name in the URL may lead. */
const movedPrimary: ReadonlySet<string | undefined> = new Set(["readonly", "noreplicas"]);

const reportedMax = 20;

type Client = ReturnType<typeof newClient>;

/** If Redis cannot be reached, retries without end; the health has the reason. Throws RedisUnusable if a retry would not help. */
export async function openRedis({ url, prefix, times, meter }: RedisOptions): Promise<Redis> {
  const allTimes = { ...redisTimes, ...times };
  const { operationMaxMs, connectMaxMs, briefMaxMs, briefRestMs, heartbeatMs } = allTimes;
  const changes = new EventEmitter<RedisChanges>().setMaxListeners(0);
  const firstOutcome = Promise.withResolvers<unknown>();
  const reported = new Set<string>();
  let health: RedisHealth = { kind: "down", why: "it was not reached yet" };
  let reason: string | undefined;
  let client: Client | undefined;
  /** Redis's clock less `performance.now()`. */
  let aheadMs: number | undefined;
  let briefRestsUntil = Number.NEGATIVE_INFINITY;

  function become(kind: RedisHealth["kind"], error?: unknown): void {
    const code = error === undefined ? undefined : codeOf(error);
    // A lost connection first times out and is then refused. For the operator, this is one reason.
    const newReason = code === "timeout" ? "lost" : code;
    const isNew = kind !== health.kind || newReason !== reason;
    health = kind === "up" ? { kind } : { kind, why: messageOf(error) };
    reason = newReason;
    firstOutcome.resolve(error);
    if (isNew) {
      changes.emit("change");
    }
  }

  /** Uses a new client, which resolves the host name again: `destroy()` does not end an old client's attempt to connect. */
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
      probe();
    });
    fresh.connect().catch(() => {
      // The `error` event has already reported this failure.
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

  /** Writes, because a Redis that is full or read-only still answers reads. Also reads the clock. */
  function probe(): void {
    const probed = client;
    if (!probed?.isReady) {
      return;
    }
    const sentAt = performance.now();
    const write = ["SET", `${prefix}probe`, "", "PX", "1000"];
    call({ command: "SET", isProbe: true }, () =>
      Promise.all([probed.sendCommand(write), probed.sendCommand(["TIME"])]),
    ).then(
      ([, time]) => {
        const [seconds, microseconds] = textsOf(time).map(Number);
        aheadMs = (seconds ?? Number.NaN) * 1000 + (microseconds ?? 0) / 1000 - sentAt;
        if (probed === client) {
          become("up");
        }
      },
      () => {
        // `noteFailure` has classified the failure.
      },
    );
  }

  /** Counts, times and traces a call. Throws StoreUnavailable. */
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
          // The other attributes of the conventions would reveal the positions of callers.
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

  /** The client's `error` event reports a lost connection, so that changes nothing here. */
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
  const heart = setInterval(beat, heartbeatMs);
  const redis: Redis = {
    get health() {
      return health;
    },
    changes,
    now: () => (aheadMs === undefined ? undefined : performance.now() + aheadMs),
    deadline: () => (aheadMs === undefined ? undefined : performance.now() + aheadMs + operationMaxMs),
    ask: (command, keys, args = []) => askFor(command, keys, args),
    async askBriefly(command, keys, args = []) {
      if (health.kind === "down" || performance.now() < briefRestsUntil) {
        return undefined;
      }
      try {
        return await askFor(command, keys, args, briefMaxMs);
      } catch {
        // Either the connection has logged the reason, or Redis was slow.
        briefRestsUntil = performance.now() + briefRestMs;
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
  /** The command in capitals, such as `GET`. */
  readonly command: string;
  readonly script?: string;
  readonly maxMs?: number | undefined;
  readonly isProbe?: boolean;
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

/** A reply that arrived while this process was busy still counts, because it is read before the immediate runs. */
async function bounded<T>(reply: Promise<T>, maxMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => reject(new Timeout(maxMs))), maxMs);
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the first word of Redis's error in lower case, `timeout`, or `lost` if the connection failed. */
function codeOf(error: unknown): string {
  if (error instanceof ErrorReply) {
    return (/^[A-Z]+/.exec(error.message)?.[0] ?? "ERR").toLowerCase();
  }
  return error instanceof Timeout ? "timeout" : "lost";
}

function messageOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // If all addresses of a name refuse, Node's error has only a code. The error of a script ends with a line of the script.
  return (message || code || "the connection failed").replace(/ script: .*/, "").slice(0, 300);
}

/** True if waiting would not help: the URL, the rights or the certificate are wrong, or the server is not a primary. */
function isUnusable(error: unknown): boolean {
  return error instanceof ErrorReply
    ? /^(WRONGPASS|NOAUTH|NOPERM|NOPROTO|READONLY|MOVED|CLUSTERDOWN|ERR (unknown command|.*DB index))/.test(
        error.message,
      )
    : error instanceof Error &&
        "code" in error &&
        /CERT|SIGNATURE|ISSUER|^ERR_(TLS|SSL)_/.test(String(error.code));
}
