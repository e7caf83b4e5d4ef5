import type { EventEmitter } from "node:events";

/** The options of `createClient` that Kibitz sets. */
export interface ClientOptions {
  readonly url: string;
  readonly socket: {
    readonly connectTimeout: number;
    readonly reconnectStrategy: (retries: number, cause: Error) => number;
  };
}

/** The part of a client of `@redis/client` that Kibitz uses. */
export interface RedisClient
  extends EventEmitter<{ connect: []; ready: []; reconnecting: []; end: []; error: [error: Error] }> {
  readonly isReady: boolean;
  connect(): Promise<void>;
  /** Rejects the commands without a reply. Redis executes the commands that were sent nevertheless. */
  destroy(): void;
  sendCommand(command: readonly string[]): Promise<unknown>;
}

/** Redis has rejected a command. */
export class ErrorReply extends Error {}

type CreateClient = (options: ClientOptions) => RedisClient;

let create: CreateClient | undefined;

/**
 * The simulation replaces the module `@redis/client` by this file. All clients that are created from now on connect to this
 * server.
 */
export function connectClientsTo(server: { readonly createClient: CreateClient }): void {
  create = server.createClient;
}

export function createClient(options: ClientOptions): RedisClient {
  if (create === undefined) {
    throw new Error("no simulated Redis has been created");
  }
  return create(options);
}
