import type { Protocol } from "../request/context.ts";

/** Counts events for metrics. The methods are fast and never throw. */
export interface Meter {
  /** Call this when a request was answered or rejected, or its client has disconnected. */
  call(call: EndedCall): void;
  search(search: EndedSearch): void;
  /** Counts a look-up of an answer in the caches. `found` is undefined if no cache has the answer. */
  lookUp(found: CacheTier | undefined): void;
  /** Counts a Redis operation that has ended, or that was not sent because Redis is down. */
  redisOperation(operation: RedisOperation): void;
  /** `seconds` is the time that the engine needed to start. Undefined if this time was not measured. */
  engineStarted(engine: MeteredEngine, seconds: number | undefined): void;
  /** Counts an engine that has exited or could not be started. */
  engineLost(engine: MeteredEngine, reason: string): void;
}

/** The cache that contained an answer: in the memory of this process, in a file on disk, or in Redis. */
export type CacheTier = "memory" | "store" | "shared";

export interface EndedCall {
  readonly protocol: Protocol;
  /** The name of the RPC. Undefined if the request was rejected before its method was known. */
  readonly method: string | undefined;
  /** `ok`, `canceled`, or a code of the error catalog. */
  readonly code: string;
  /** The plan and the limit that has rejected the call, such as `keyless/minute`. */
  readonly limit?: string | undefined;
  readonly seconds: number;
  /** The trace and span of the call, as the value of a `traceparent` header. */
  readonly traceparent: string | undefined;
}

interface EndedSearch {
  readonly path: string;
  readonly queueMs: number;
  /** The state of the search at its end: depth in plies, visited nodes, and milliseconds by the engine's clock. */
  readonly snapshot: {
    readonly depth: number;
    readonly counters: { readonly nodes: number; readonly timeMs: number };
  };
  /** The limit that ended the search: `depth`, `nodes`, `time` or `stop`. */
  readonly endedBy: string;
}

export interface MeteredEngine {
  readonly id: string;
  readonly path: string;
}

interface RedisOperation {
  readonly name: string;
  /** The time until Redis replied or the operation timed out. */
  readonly seconds: number;
  /** `timeout`, `away` if there was no connection, or an error code of Redis. Undefined if the operation succeeded. */
  readonly failure: string | undefined;
}
