import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import { isIP } from "node:net";
import { SpanKind } from "@opentelemetry/api";
import { createClient, ErrorReply } from "@redis/client";
import type { Meter } from "../../metrics/meter.ts";
import { inSpan } from "../../tracing/spans.ts";
import { StoreUnavailable } from "../ports.ts";
import { textsOf } from "./replies.ts";

/** Milliseconds. */
const redisTimes = {
  /** The longest wait for a reply. A connection that needs longer counts as lost. Callers are promised half a second, timers are late. */
  operationMaxMs: 450,
  /** The longest wait for a connection, and then for the replies to its password and database. */
  connectMaxMs: 1000,
  /** The longest wait for a reply that saves a caller less time than a slow Redis would cost it. */
  briefMaxMs: 100,
  /** The pause of all brief calls after one has failed: a slow Redis delays one of them in this time, not each. */
  briefRestMs: 1000,
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
  /** In front of every key. */
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
  /** The time by Redis's clock, which all nodes share, in milliseconds since 1970; undefined until Redis has answered once. */
  now(): number | undefined;
  /** The time by Redis's clock until which a call that is sent now is waited for; undefined as `now`. */
  deadline(): number | undefined;
  /** Sends one command. Keys come before all other arguments, and get the prefix. @throws StoreUnavailable */
  ask(command: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
  /**
   * Sends a command that the caller can do without. Resolves with undefined if Redis is down, or slow, or was slow a moment ago. Never
   * rejects. A timeout leaves the connection as it is.
   */
  askBriefly(command: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
  /** Runs a script. Its source is sent only if Redis does not have it. @throws StoreUnavailable */
  run(script: RedisScript, keys: readonly string[], args?: readonly (string | number)[]): Promise<unknown>;
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
  const { operationMaxMs, connectMaxMs, briefMaxMs, briefRestMs, heartbeatMs } = allTimes;
  const changes = new EventEmitter<RedisChanges>().setMaxListeners(0);
  const firstOutcome = Promise.withResolvers<unknown>();
  const reported = new Set<string>();
  let health: RedisHealth = { kind: "down", why: "it was not reached yet" };
  let reason: string | undefined;
  let client: Client | undefined;
  /** Milliseconds from `performance.now()` to Redis's clock. */
  let aheadMs: number | undefined;
  let briefRestsUntil = Number.NEGATIVE_INFINITY;

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

  /** Writes, because a Redis that is full or read-only still answers reads. Reads the clock with it. */
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
          // The other attributes of the conventions would show the positions of callers.
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
        // The log has the reason from the connection, or Redis was slow.
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
  /** In capitals: `GET`. */
  readonly command: string;
  /** The name of the script that the command runs. */
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
