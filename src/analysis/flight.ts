import type { Analysis, SearchResult } from "./analysis.ts";
import type { SearchTime } from "./expected-time.ts";
import type { PlaceInQueue, ReadQueuePosition } from "./scheduler.ts";

/** An event of a search, for the caller that follows it. */
export type Followed =
  | { readonly kind: "waiting"; readonly at: PlaceInQueue }
  | { readonly kind: "state"; readonly analysis: Analysis };

/** The terms on which a search runs for a caller: its expected and longest time, and the callback that charges engine time. */
export interface Terms extends SearchTime {
  /**
   * A callback with the engine time of the search so far, in milliseconds. The time is the one that the answer states; if there
   * is no answer, it is the time for which the search had an engine while this caller waited. Not called for an answer that needs
   * no engine.
   */
  readonly onEngineTime: (engineMs: number) => void;
}

/** An event of a search that several callers may read. The last one is a state. */
export type SharedEvent = SharedWaiting | SharedState;

/**
 * The event of a search that waits for its slot. Each reader looks up the queue position itself, so that a slow reader never gets
 * an old position.
 */
interface SharedWaiting {
  readonly kind: "waiting";
  readonly readPosition: ReadQueuePosition;
}

/** A state of a search that several callers may share. */
export interface SharedState {
  readonly kind: "state";
  /**
   * Returns the result. It is described once, and only if a caller reads it, because writing SAN takes longer than a shallow
   * search.
   */
  result(): SearchResult;
  /** The depth in plies. */
  readonly depth: number;
  /**
   * The time at which the search began to wait for its slot, by `performance.now()`; `queueMs` is the time that it waited, in
   * milliseconds.
   */
  readonly askedAt: number;
  readonly queueMs: number;
  /** The engine time of the search so far, in milliseconds. */
  readonly engineMs: number;
  /** True if another node had the answer before this node needed it. */
  readonly cached: boolean;
}

/** A search that is about to run on this node, unless another node knows its answer or runs it. */
export interface SharedFlight {
  /** The key of the answer in the cache; `flightKey` is the key of the search in flight. */
  readonly key: string;
  readonly flightKey: string;
  /** Waits for a slot on this node, and then runs the search. */
  search(): Promise<SharedState>;
  /** Aborted when no caller waits for the search any more. */
  readonly signal: AbortSignal;
  /**
   * Aborted when a stream reads the search. The search must then not wait for another node, because other nodes publish only
   * their last state.
   */
  readonly streamed: AbortSignal;
}

/** The sharing of searches with other nodes. */
export interface Sharing {
  /** Runs the search on this node, or takes its answer from another node. */
  run(flight: SharedFlight): Promise<SharedState>;
}
