/** What it means that Redis has refused a command, or a connection to it has failed. */
export interface RedisFailure {
  /**
   * - `unusable`: as it is configured, here or there, it cannot serve: nothing changes by waiting
   * - `unwritable`: it answers what is read, and for the time being keeps nothing
   * - `unavailable`: it cannot be asked for the time being
   * - `refused`: this command, and not others
   */
  readonly kind: "unusable" | "unwritable" | "unavailable" | "refused";
  /** For the operator: what is wrong, and what to do about it. */
  readonly why: string;
}

/** By the first word of a refusal. https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors */
const refusals: Readonly<Record<string, RedisFailure>> = {
  WRONGPASS: { kind: "unusable", why: "it refuses the user or the password" },
  NOAUTH: { kind: "unusable", why: "it asks for a password, and the URL has none" },
  NOPERM: {
    kind: "unusable",
    why: "its user may not do what Kibitz needs: grant it ~* &* +@all, or fewer as the documentation says",
  },
  NOPROTO: { kind: "unusable", why: "it is older than Redis 6.2" },
  READONLY: { kind: "unusable", why: "it is a replica, which may only be read: name the primary" },
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
  NOREPLICAS: { kind: "unwritable", why: "it has too few replicas and takes no writes" },
  LOADING: { kind: "unavailable", why: "it is reading its data after a start" },
  MASTERDOWN: { kind: "unavailable", why: "it is a replica that has lost its primary" },
  BUSY: { kind: "unavailable", why: "it is busy with a script" },
};

const unusable = (why: string): RedisFailure => ({ kind: "unusable", why });

/** @param message of a reply that is an error */
export function explainRefusal(message: string): RedisFailure {
  const known = refusals[message.split(" ", 1)[0] ?? ""];
  if (known) {
    return known;
  }
  if (/DB index is out of range|invalid DB index/i.test(message)) {
    return unusable("it has no database of the number in the URL");
  }
  if (/unknown command.*HELLO/i.test(message)) {
    return unusable("it is older than Redis 6.2");
  }
  return { kind: "refused", why: `it refuses a command: ${message.slice(0, 200)}` };
}

/** @param info what INFO says of the server. One that does not tell its version is believed. */
export function isTooOld(info: string): boolean {
  const [, major = "6", minor = "2"] = /^redis_version:(\d+)\.(\d+)/m.exec(info) ?? [];
  return Number(major) < 6 || (Number(major) === 6 && Number(minor) < 2);
}

/** It lacks commands that scripts use. */
export class TooOld extends Error {}

/** @param error of a connection, by Node or the library */
export function explainBreak(error: unknown): RedisFailure {
  if (error instanceof TooOld) {
    return unusable("it is older than Redis 6.2");
  }
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (/^ERR_TLS_|CERT|SIGNATURE|ISSUER|^ERR_SSL/.test(code)) {
    return unusable(`TLS with it fails: ${message} (NODE_EXTRA_CA_CERTS names certificates to trust)`);
  }
  return { kind: "unavailable", why: message || code || "the connection has failed" };
}
