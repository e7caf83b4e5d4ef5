import { EventEmitter } from "node:events";
import { type Client, failureOf, newClient, targetOf, within } from "./client.ts";
import { type RedisFailure, Silence } from "./explain-failure.ts";
import { probeAll, probeWriting } from "./probe.ts";

/** What is waited for, and how long, in milliseconds. */
export const redisTimes = {
  /** An answer, before the connection is taken for dead and made anew. */
  operationMaxMs: 500,
  /** A connection, with TLS and password. */
  connectMaxMs: 1000,
  /** Between two looks whether Redis is there and takes writes. */
  heartbeatMs: 1000,
  /** Between two tries to connect: this first, twice as long each time. */
  retryMinMs: 50,
  retryMaxMs: 1000,
} as const;

/** As {@link redisTimes}; tests make them short. */
export type RedisTimes = { readonly [Time in keyof typeof redisTimes]: number };

/** How the store does. `why` is for the operator. */
export type RedisHealth =
  | { readonly kind: "up" }
  /** It answers, and keeps nothing or not all: full, not able to save, a replica by now, or its user may not do what is needed. */
  | { readonly kind: "unwritable"; readonly why: string }
  | { readonly kind: "down"; readonly why: string };

export interface RedisChanges {
  change: [];
  refused: [why: string];
}

/** What of it is for whoever asks Redis: the library's connection of the moment, and what has become of it. */
interface KeptConnection extends Disposable {
  /** There while Redis can be asked. Of each moment another one: it must not be kept. */
  readonly client: Client | undefined;
  readonly health: RedisHealth;
  readonly changes: EventEmitter<RedisChanges>;
  /** Told why something failed that a client was asked, and draws the conclusions for all. */
  judge(asked: Client, failure: RedisFailure): void;
  /** Gives a client up, if it is still asked. */
  lose(asked: Client, failure: RedisFailure): void;
}

interface KeptConnectionOptions {
  readonly url: string;
  /** What is written to see whether Redis can be written to. */
  readonly probe: { readonly key: string; readonly channel: string };
  readonly times: RedisTimes;
  /** Told of each client, before anybody asks it. */
  onClient(fresh: Client): void;
}

/** Reasons that are remembered, lest they are told again. */
const refusalsMax = 20;

type Opened =
  | { readonly kind: "opened"; readonly fresh: Client; readonly refusal: RedisFailure | undefined }
  | { readonly kind: "failed"; readonly failure: RedisFailure };

/**
 * Connects, and again whenever the connection is lost. Where Redis answers and is not the one that takes writes any more, a
 * second connection is made by name, address and all, until that one can write: then it takes the place of the first.
 * `failure` says why the first try has failed.
 */
export async function keepConnection({ url, probe, times, onClient }: KeptConnectionOptions): Promise<{
  readonly kept: KeptConnection;
  readonly failure: RedisFailure | undefined;
}> {
  const { operationMaxMs, connectMaxMs, heartbeatMs, retryMinMs, retryMaxMs } = times;
  const target = targetOf(url);
  const tried = { ...probe, maxMs: operationMaxMs };
  const changes = new EventEmitter<RedisChanges>();
  changes.setMaxListeners(0);
  let health: RedisHealth = { kind: "down", why: "it was not reached yet" };
  /** What keeps Redis from being used. */
  let reason: string | undefined;
  let client: Client | undefined;
  const opening = new Set<Client>();
  const refusals = new Set<string>();
  /** Since a connection has lasted until its first heartbeat. */
  let retries = 0;
  let retrying: NodeJS.Timeout | undefined;
  let isBeating = false;
  let closed = false;

  /** @param failure why it is not up. Another one than before is told, too, though the health may stay what it is. */
  function become(kind: RedisHealth["kind"], failure?: RedisFailure): void {
    const name = failure && (isAbsence(failure) ? "away" : failure.name);
    const isNew = kind !== health.kind || name !== reason;
    health = kind === "up" ? { kind } : { kind, why: failure?.why ?? "" };
    reason = name;
    if (isNew) {
      changes.emit("change");
    }
  }

  /** A connection that has answered to all that will be asked of it, though it may have refused it. */
  async function open(): Promise<Opened> {
    const fresh = newClient({ ...target, connectMaxMs });
    let broken: unknown;
    fresh.on("error", (error) => {
      broken = error;
      lose(fresh, failureOf(error));
    });
    opening.add(fresh);
    const opened = fresh.connect();
    // One that comes too late would else stay open.
    opened.then(
      () => closed && fresh.destroy(),
      () => {},
    );
    try {
      await within(connectMaxMs, opened, () => new Silence(connectMaxMs));
      const refusal = await probeAll(fresh, tried);
      if (broken || closed) {
        throw broken ?? new Error("closed");
      }
      return { kind: "opened", fresh, refusal };
    } catch (error) {
      fresh.destroy();
      opened.then(
        () => fresh.destroy(),
        () => {},
      );
      return { kind: "failed", failure: failureOf(error) };
    } finally {
      opening.delete(fresh);
    }
  }

  function use(fresh: Client): void {
    client = fresh;
    onClient(fresh);
  }

  /** Resolves once it is clear whether Redis is there; then it goes on by itself. */
  async function connect(): Promise<RedisFailure | undefined> {
    const opened = await open();
    if (opened.kind === "opened" && (opened.refusal?.kind ?? "unwritable") === "unwritable") {
      use(opened.fresh);
      become(opened.refusal ? "unwritable" : "up", opened.refusal);
      return undefined;
    }
    const failure = opened.kind === "failed" ? opened.failure : opened.refusal;
    if (opened.kind === "opened") {
      opened.fresh.destroy();
    }
    become("down", failure);
    tryAgain();
    return failure;
  }

  function tryAgain(): void {
    if (!closed) {
      const longest = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(retries, 20));
      retries++;
      // Nodes that have lost it together do not come back together.
      retrying = setTimeout(() => void connect(), longest * (0.5 + Math.random() / 2));
    }
  }

  function lose(lost: Client, failure: RedisFailure): void {
    if (lost === client) {
      client = undefined;
      lost.destroy();
      become("down", failure);
      tryAgain();
    }
  }

  /** Asks by the name of Redis once more, and changes over where that leads to one that takes writes. */
  async function lookElsewhere(): Promise<void> {
    const before = client;
    const opened = await open();
    if (opened.kind === "failed") {
      return;
    }
    if (opened.refusal || before === undefined || client !== before) {
      opened.fresh.destroy();
      return;
    }
    use(opened.fresh);
    // What it was asked last is refused, and asked again by whoever needs it.
    before.destroy();
    become("up");
  }

  /** Whether it is there and can be written to. While it cannot, all is tried that may be refused. */
  async function look(): Promise<void> {
    const asked = client;
    if (asked === undefined) {
      return;
    }
    const { kind } = health;
    let refusal: RedisFailure | undefined;
    try {
      refusal = await (kind === "up" ? probeWriting : probeAll)(asked, tried);
    } catch (error) {
      lose(asked, failureOf(error));
      return;
    }
    retries = 0;
    // What was refused meanwhile may be more than was tried here: the next look tries all.
    const isOutdated = refusal === undefined && health.kind !== kind;
    if (asked !== client || isOutdated) {
      return;
    }
    become(refusal ? "unwritable" : "up", refusal);
    if (refusal?.isElsewhere) {
      await lookElsewhere();
    }
  }

  async function beat(): Promise<void> {
    if (!isBeating) {
      isBeating = true;
      await look();
      isBeating = false;
    }
  }

  const failure = await connect();
  const heart = setInterval(() => void beat(), heartbeatMs);
  return {
    failure,
    kept: {
      get client() {
        return client;
      },
      get health() {
        return health;
      },
      changes,
      lose,
      judge(asked, failure) {
        const { kind, why } = failure;
        if (kind === "unavailable") {
          lose(asked, failure);
        } else if (kind !== "refused") {
          if (asked === client) {
            become("unwritable", failure);
          }
        } else if (!refusals.has(why) && refusals.size < refusalsMax) {
          refusals.add(why);
          changes.emit("refused", why);
        }
      },
      [Symbol.dispose]() {
        closed = true;
        clearInterval(heart);
        clearTimeout(retrying);
        for (const fresh of opening) {
          fresh.destroy();
        }
        client?.destroy();
        client = undefined;
        health = { kind: "down", why: "it is not used any more" };
      },
    },
  };
}

/** Nobody has answered, however that was noticed. */
const isAbsence = ({ name }: RedisFailure) => name === "lost" || name === "timeout";
