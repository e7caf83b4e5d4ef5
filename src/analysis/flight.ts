import type { Analysis, SearchResult } from "./analysis.ts";
import type { SearchTime } from "./expected-time.ts";
import type { PlaceInQueue, ReadQueuePosition } from "./scheduler.ts";

/** An event of a search, for its caller. */
export type Followed =
  | { readonly kind: "waiting"; readonly at: PlaceInQueue }
  | { readonly kind: "state"; readonly analysis: Analysis };

/** The terms on which a caller's search runs. */
export interface Terms extends SearchTime {
  /**
   * Called with all engine time so far, in milliseconds; never for an answer that needs none. It is the time that the answer
   * states; without an answer, it is the time for which the search had an engine while this caller waited.
   */
  readonly onEngineTime: (engineMs: number) => void;
}

/** An event of a search that several callers may read. The last one is a state. */
export type SharedEvent = SharedWaiting | SharedState;

/** The search waits. Each reader looks up the queue position itself, so a slow reader gets no position that has passed. */
interface SharedWaiting {
  readonly kind: "waiting";
  readonly readPosition: ReadQueuePosition;
}

/** A state of a search. */
export interface SharedState {
  readonly kind: "state";
  /** Described once, and only if somebody reads it: SAN costs more than a shallow search. */
  result(): SearchResult;
  /** Plies. */
  readonly depth: number;
  /** The time at which the search began to wait for its slot, by `performance.now()`, and the milliseconds that it waited. */
  readonly askedAt: number;
  readonly queueMs: number;
  /** Engine time of the search so far, in milliseconds. */
  readonly engineMs: number;
  /** True if another node had the answer before this one needed it. */
  readonly cached: boolean;
}

/** A search that is about to run here, unless another node knows its answer or runs it. */
export interface SharedFlight {
  /** The keys in the cache and in flight. */
  readonly key: string;
  readonly flightKey: string;
  /** Waits for a slot and searches. */
  search(): Promise<SharedState>;
  /** Aborted when no caller waits for the search any more. */
  readonly signal: AbortSignal;
  /** Aborted when a stream reads the search: it must not wait for another node, which publishes its last state alone. */
  readonly streamed: AbortSignal;
}

/** Shares searches with other nodes. */
export interface Sharing {
  /** Runs the search here, or takes its answer from another node. */
  run(flight: SharedFlight): Promise<SharedState>;
}
