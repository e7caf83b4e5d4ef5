import type { Protocol } from "../request/context.ts";

/** The methods are fast and never throw. */
export interface Meter {
  /** Call this when a request was answered or rejected, or its client has disconnected. */
  call(call: EndedCall): void;
  search(search: EndedSearch): void;
  /** `found` is undefined if no cache has the answer. */
  lookUp(found: CacheTier | undefined): void;
  /** Call this also if the operation was not sent because Redis is down. */
  redisOperation(operation: RedisOperation): void;
  /** `seconds` is the duration of the start. Undefined if the duration was not measured. */
  engineStarted(engine: MeteredEngine, seconds: number | undefined): void;
  /** Call this for each error that nothing caught. */
  unhandledError(): void;
  /** Call this when an engine has exited or could not be started. */
  engineLost(engine: MeteredEngine, reason: string): void;
}

/** `memory`: this process. `store`: a file on disk. `shared`: Redis. */
export type CacheTier = "memory" | "store" | "shared";

export interface EndedCall {
  readonly protocol: Protocol;
  /** Undefined if the request was rejected before its method was known. */
  readonly method: string | undefined;
  /** `ok`, `canceled`, or a code of the error catalog. */
  readonly code: string;
  /** The plan and its exceeded limit, such as `keyless/minute`. Undefined if no limit rejected the call. */
  readonly limit?: string | undefined;
  readonly seconds: number;
  /** The value of a `traceparent` header. */
  readonly traceparent: string | undefined;
}

interface EndedSearch {
  readonly path: string;
  readonly queueMs: number;
  /** The state at the end of the search: depth in plies, visited nodes, and milliseconds by the engine's clock. */
  readonly snapshot: {
    readonly depth: number;
    readonly counters: { readonly nodes: number; readonly timeMs: number };
  };
  /** `depth`, `nodes`, `time` or `stop`. */
  readonly endedBy: string;
}

export interface MeteredEngine {
  readonly id: string;
  readonly path: string;
}

interface RedisOperation {
  readonly name: string;
  readonly seconds: number;
  /** `timeout`, `away` if there was no connection, or an error code of Redis. Undefined if the operation succeeded. */
  readonly failure: string | undefined;
}
