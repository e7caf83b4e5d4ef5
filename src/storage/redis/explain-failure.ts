/** What it means that Redis has refused a command, or a connection to it has failed. */
export interface RedisFailure {
  /**
   * - `unusable`: as it is configured, here or there, it cannot serve: nothing changes by waiting
   * - `unwritable`: it answers what is read, and for the time being keeps nothing
   * - `unavailable`: it cannot be asked for the time being
   * - `refused`: this command, and not others
   */
  readonly kind: "unusable" | "unwritable" | "unavailable" | "refused";
  /** What it is called, of which there are few: Redis's own word (`oom`), `timeout`, or `lost` of a connection. */
  readonly name: string;
  /** For the operator: what is wrong, and what to do about it. */
  readonly why: string;
  /** Another machine may do what this one does not: another primary was chosen, and the name of Redis may lead there. */
  readonly isElsewhere?: boolean;
}

/** By the first word of a refusal. https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors */
const refusals: Readonly<Record<string, Omit<RedisFailure, "name">>> = {
  WRONGPASS: { kind: "unusable", why: "it refuses the user or the password" },
  NOAUTH: { kind: "unusable", why: "it asks for a password, and the URL has none" },
  NOPERM: {
    kind: "unusable",
    why: "its user may not do what Kibitz needs: grant it ~* &* +@all, or fewer as the documentation says",
  },
  NOPROTO: { kind: "unusable", why: "it is older than Redis 6.2" },
  READONLY: {
    kind: "unusable",
    why: "it is a replica, which may only be read: name the primary",
    isElsewhere: true,
  },
  MOVED: {
    kind: "unusable",
    why: "it is a node of a Redis Cluster, which Kibitz does not use: name a Redis of its own",
  },
  CLUSTERDOWN: {
    kind: "unusable",
    why: "it is a node of a Redis Cluster, which Kibitz does not use: name a Redis of its own",
  },
  OOM: { kind: "unwritable", why: "its memory is full (maxmemory): give it more, or let it evict" },
  MISCONF: { kind: "unwritable", why: "it cannot save to its disk and takes no writes" },
  NOREPLICAS: {
    kind: "unwritable",
    why: "it has too few replicas and takes no writes (min-replicas-to-write)",
    isElsewhere: true,
  },
  LOADING: { kind: "unavailable", why: "it is reading its data after a start" },
  MASTERDOWN: { kind: "unavailable", why: "it is a replica that has lost its primary" },
  BUSY: { kind: "unavailable", why: "it is busy with a script" },
};

const unusable = (name: string, why: string): RedisFailure => ({ kind: "unusable", name, why });

/** @param message of a reply that is an error */
export function explainRefusal(message: string): RedisFailure {
  const word = wordOfRefusal(message);
  const name = word.toLowerCase();
  const known = refusals[word];
  if (known) {
    return { ...known, name };
  }
  if (/DB index is out of range|invalid DB index/i.test(message)) {
    return unusable("database", "it has no database of the number in the URL");
  }
  if (/unknown command.*HELLO/i.test(message)) {
    return unusable("old", "it is older than Redis 6.2");
  }
  return { kind: "refused", name, why: `it refuses a command: ${message.slice(0, 200)}` };
}

/**
 * The first word of a refusal; or what has refused a command inside of a script, which Redis 6.2 and, of rights, all versions
 * tell in the middle of a sentence. Of what is no word of Redis, `ERR`.
 */
function wordOfRefusal(message: string): string {
  if (/^ERR (The user executing the script can't|ACL failure in script)/.test(message)) {
    return "NOPERM";
  }
  return (
    /^ERR Error running script.*? -([A-Z]+) /s.exec(message)?.[1] ?? /^[A-Z]+/.exec(message)?.[0] ?? "ERR"
  );
}

/** @param info what INFO says of the server. One that does not tell its version is believed. */
export function isTooOld(info: string): boolean {
  const [, major = "6", minor = "2"] = /^redis_version:(\d+)\.(\d+)/m.exec(info) ?? [];
  return Number(major) < 6 || (Number(major) === 6 && Number(minor) < 2);
}

/** It lacks commands that scripts use. */
export class TooOld extends Error {}

/** It has not answered. */
export class Silence extends Error {
  constructor(maxMs: number) {
    super(`it has not answered within ${maxMs} ms`);
  }
}

/** @param error of a connection, by Node or the library */
export function explainBreak(error: unknown): RedisFailure {
  if (error instanceof TooOld) {
    return unusable("old", "it is older than Redis 6.2");
  }
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (/^ERR_TLS_|CERT|SIGNATURE|ISSUER|^ERR_SSL/.test(code)) {
    return unusable("tls", `TLS with it fails: ${message} (NODE_EXTRA_CA_CERTS names certificates to trust)`);
  }
  const why = message || code || "the connection has failed";
  return { kind: "unavailable", name: error instanceof Silence ? "timeout" : "lost", why };
}
