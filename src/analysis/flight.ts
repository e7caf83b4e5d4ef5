import type { Analysis, SearchResult } from "./analysis.ts";
import type { SearchTime } from "./expected-time.ts";
import type { PlaceInQueue, ReadQueuePosition } from "./scheduler.ts";

export type Followed =
  | { readonly kind: "waiting"; readonly at: PlaceInQueue }
  | { readonly kind: "state"; readonly analysis: Analysis };

export interface Terms extends SearchTime {
  /** Reports the engine time so far, as the answer states it, or, if there is none, the time while this caller waited. */
  readonly onEngineTime: (engineMs: number) => void;
}

/** Several callers may read the events of a search. The last one is a state. */
export type SharedEvent = SharedWaiting | SharedState;

/** Each reader looks up the queue position itself, so that a slow reader never gets an old position. */
interface SharedWaiting {
  readonly kind: "waiting";
  readonly readPosition: ReadQueuePosition;
}

export interface SharedState {
  readonly kind: "state";
  /** Describes the result once, and only if a caller reads it, because writing SAN takes longer than a shallow search. */
  result(): SearchResult;
  readonly depth: number;
  /** The time at which the search began to wait for its slot, by `performance.now()`. */
  readonly askedAt: number;
  readonly queueMs: number;
  readonly engineMs: number;
  /** True if another node had the answer before this node needed it. */
  readonly cached: boolean;
}

/** A search that is about to run on this node, unless another node knows its answer or runs it. */
interface SharedFlight {
  /** The key of the answer in the cache; `flightKey` is that of the search in flight. */
  readonly key: string;
  readonly flightKey: string;
  /** Waits for a slot on this node, and then runs the search. */
  search(): Promise<SharedState>;
  /** Aborted when no caller waits for the search any more. */
  readonly signal: AbortSignal;
  /** Aborted when a stream reads the search: it must not wait for other nodes, which publish only their last state. */
  readonly streamed: AbortSignal;
}

export interface Sharing {
  /** Runs the search on this node, or takes its answer from another node. */
  run(flight: SharedFlight): Promise<SharedState>;
}
