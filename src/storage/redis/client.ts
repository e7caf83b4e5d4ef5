import { isIP } from "node:net";
import { createClient, ErrorReply } from "@redis/client";
import { explainBreak, explainRefusal, type RedisFailure } from "./explain-failure.ts";

/** The library's connection. */
export type Client = ReturnType<typeof newClient>;

interface Target {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

export function targetOf(text: string): Target {
  const { protocol, hostname, port, username, password, pathname } = new URL(text);
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || 6379),
    tls: protocol === "rediss:",
    username: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
    database: Number(pathname.slice(1)),
  };
}

/** A connection for once: it is made anew here and not by the library, which would go on with what waits for its answer. */
export function newClient({
  host,
  port,
  tls,
  username,
  password,
  database,
  connectMaxMs,
}: Target & { readonly connectMaxMs: number }) {
  const socket = { host, port, connectTimeout: connectMaxMs, reconnectStrategy: false } as const;
  return createClient({
    socket: tls ? { ...socket, tls, servername: isIP(host) ? "" : host } : socket,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    database,
    name: "kibitz",
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    commandOptions: { timeout: 0 },
  });
}

/** What the promise does, within so many milliseconds. What has come while this process was busy is seen before it is judged late. */
export async function within<T>(maxMs: number, promise: Promise<T>, late: () => Error): Promise<T> {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => reject(late())), maxMs);
  try {
    return await Promise.race([promise, passed]);
  } finally {
    clearTimeout(timer);
  }
}

/** Redis has answered, and not done it. */
export const isRefusal = (error: unknown) => error instanceof ErrorReply;

export function failureOf(error: unknown): RedisFailure {
  return error instanceof ErrorReply ? explainRefusal(error.message) : explainBreak(error);
}

export const isUnknownScript = (error: unknown) =>
  error instanceof ErrorReply && error.message.startsWith("NOSCRIPT");
