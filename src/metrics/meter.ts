import type { Protocol } from "../request/context.ts";

/** Counts events for metrics. Its methods are quick and never throw. */
export interface Meter {
  /** Counts a request that was answered or rejected, or whose client has disconnected. */
  call(call: EndedCall): void;
  search(search: EndedSearch): void;
  /** `found` is the tier with the answer; undefined if there was none. */
  lookUp(found: CacheTier | undefined): void;
  /** Counts an operation of Redis that ended, or that was not sent. */
  redisOperation(operation: RedisOperation): void;
  /** `seconds` is the time that the start took, if known. */
  engineStarted(engine: MeteredEngine, seconds: number | undefined): void;
  /** Counts an engine that ended or could not be started. The next search of its build starts another one. */
  engineLost(engine: MeteredEngine, reason: string): void;
}

/** The place of a cached answer: in this process, on its disk, or in the store that all nodes share. */
export type CacheTier = "memory" | "store" | "shared";

export interface EndedCall {
  readonly protocol: Protocol;
  /** The name of the RPC; undefined if the request was rejected before it was a call. */
  readonly method: string | undefined;
  /** The result of the call: `ok`, `canceled`, or a code of the error catalog. */
  readonly code: string;
  /** The plan and limit that rejected the call, such as `keyless/minute`. */
  readonly limit?: string | undefined;
  readonly seconds: number;
  /** The span of the call, written as a `traceparent` header. */
  readonly traceparent: string | undefined;
}

interface EndedSearch {
  readonly path: string;
  readonly queueMs: number;
  /** The progress of the search: its depth in plies, its nodes, and its time in milliseconds by the engine's clock. */
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
  /** The time until the answer or the timeout, in seconds. */
  readonly seconds: number;
  /** `timeout`, `away` if there was no connection, or an error code of Redis; undefined if the operation succeeded. */
  readonly failure: string | undefined;
}
