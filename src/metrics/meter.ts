import type { Protocol } from "../request/context.ts";

/** Told what happens, for whoever counts it. All of it is quick, and none of it throws. */
export interface Meter {
  /** A request was answered or refused, or its caller has left. */
  call(call: EndedCall): void;
  /** An engine has answered. */
  search(search: EndedSearch): void;
  /** An answer was looked for among those that are kept. */
  lookUp(found: CacheTier | undefined): void;
  /** Redis was asked, or could not be. */
  redisOperation(operation: RedisOperation): void;
  /** An engine was started, in so many seconds, where that is known. */
  engineStarted(engine: MeteredEngine, seconds: number | undefined): void;
  /** An engine is gone, or could not be started: the next search of its build starts another one. */
  engineLost(engine: MeteredEngine, reason: string): void;
}

/** Where an answer was kept: in this process, on its disk, or by all nodes together. */
export type CacheTier = "memory" | "store" | "shared";

export interface EndedCall {
  readonly protocol: Protocol;
  /** Name of an RPC; undefined where the request was refused before it was known to be one. */
  readonly method: string | undefined;
  /** `ok`, `canceled` or a code of the catalogue. */
  readonly code: string;
  /** Which limit of which plan it was refused by, if it was. */
  readonly limit?: string | undefined;
  readonly seconds: number;
  /** The call's span, as in the header `traceparent`. */
  readonly traceparent: string | undefined;
}

interface EndedSearch {
  readonly path: string;
  /** Milliseconds that it waited for its slot. */
  readonly queueMs: number;
  /** How far it came: plies, positions, and milliseconds by the engine's clock. */
  readonly snapshot: {
    readonly depth: number;
    readonly counters: { readonly nodes: number; readonly timeMs: number };
  };
  /** What ended it: `depth`, `nodes`, `time` or `stop`. */
  readonly endedBy: string;
}

/** An engine, by what there are few of. */
export interface MeteredEngine {
  /** Of its build. */
  readonly id: string;
  readonly path: string;
}

interface RedisOperation {
  /** Of a command or a script, of which there are few. */
  readonly name: string;
  /** Until it was answered, or given up. */
  readonly seconds: number;
  /** What it has failed by: `timeout`, or `away` where nobody was there to be asked; undefined where it has not. */
  readonly failure: string | undefined;
}
