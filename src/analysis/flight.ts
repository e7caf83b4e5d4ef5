import type { Analysis, SearchResult } from "./analysis.ts";
import type { SearchTime } from "./expected-time.ts";
import type { PlaceInQueue, ReadQueuePosition } from "./scheduler.ts";

export type Followed =
  | { readonly kind: "waiting"; readonly at: PlaceInQueue }
  | { readonly kind: "state"; readonly analysis: Analysis };

export interface Terms extends SearchTime {
  /**
   * Reports the engine time in milliseconds. If there is no result, reports how long the engine searched while the caller
   * waited.
   */
  readonly onEngineTime: (engineMs: number) => void;
}

export type SharedEvent = SharedWaiting | SharedState;

/**
 * A client may read this event late. The event has a function and not a number, so that the client gets the current queue
 * position.
 */
interface SharedWaiting {
  readonly kind: "waiting";
  readonly readPosition: ReadQueuePosition;
}

export interface SharedState {
  readonly kind: "state";
  /**
   * Creates the result at the first call, because writing SAN takes longer than a shallow search. Later calls return the same
   * result.
   */
  result(): SearchResult;
  readonly depth: number;
  /** The time when the search entered the queue, by `performance.now()`. */
  readonly askedAt: number;
  readonly queueMs: number;
  readonly engineMs: number;
  /** True if another node already had the result before this request. */
  readonly cached: boolean;
}

/** This node runs the search only if no other node has the result or runs an equal search. */
interface SharedFlight {
  readonly key: string;
  /** Identifies the running search. Includes the movetime. */
  readonly flightKey: string;
  search(): Promise<SharedState>;
  /** Aborts when no caller waits for the search any more. */
  readonly signal: AbortSignal;
  /**
   * Aborts when a caller reads intermediate states. This node must then run the search, because nodes share only the last
   * state.
   */
  readonly streamed: AbortSignal;
}

export interface Sharing {
  run(flight: SharedFlight): Promise<SharedState>;
}
