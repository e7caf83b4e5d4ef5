import type { Protocol } from "../request/context.ts";

/** Counts events. Its methods are quick and never throw. */
export interface Meter {
  /** A request was answered or refused, or its client has disconnected. */
  call(call: EndedCall): void;
  /** An engine has answered. */
  search(search: EndedSearch): void;
  /** An answer was looked up in the cache: where it was found, or undefined. */
  lookUp(found: CacheTier | undefined): void;
  /** An operation of Redis ended, or was not sent. */
  redisOperation(operation: RedisOperation): void;
  /** An engine was started, in so many seconds if that is known. */
  engineStarted(engine: MeteredEngine, seconds: number | undefined): void;
  /** An engine ended or could not be started. The next search of its build starts another one. */
  engineLost(engine: MeteredEngine, reason: string): void;
}

/** The place of a cached answer: in this process, on its disk, or in the store that all nodes share. */
export type CacheTier = "memory" | "store" | "shared";

export interface EndedCall {
  readonly protocol: Protocol;
  /** Name of the RPC; undefined if the request was refused before it was a call. */
  readonly method: string | undefined;
  /** `ok`, `canceled` or a code of the catalogue. */
  readonly code: string;
  /** The plan and limit that refused the call: `keyless/minute`. */
  readonly limit?: string | undefined;
  readonly seconds: number;
  /** The call's span as a `traceparent` header. */
  readonly traceparent: string | undefined;
}

interface EndedSearch {
  readonly path: string;
  /** Milliseconds that the search waited for its slot. */
  readonly queueMs: number;
  /** How far the search came: plies, positions, and milliseconds by the engine's clock. */
  readonly snapshot: {
    readonly depth: number;
    readonly counters: { readonly nodes: number; readonly timeMs: number };
  };
  /** The limit that ended the search: `depth`, `nodes`, `time` or `stop`. */
  readonly endedBy: string;
}

/** An engine, by labels of few values. */
export interface MeteredEngine {
  /** Id of the build. */
  readonly id: string;
  readonly path: string;
}

interface RedisOperation {
  /** Name of the command or script. */
  readonly name: string;
  /** Until the answer, or the timeout. */
  readonly seconds: number;
  /** `timeout`, `away` if there was no connection, or an error code of Redis; undefined if the operation succeeded. */
  readonly failure: string | undefined;
}
