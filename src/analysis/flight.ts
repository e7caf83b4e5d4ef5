import type { Analysis, Findings } from "./analysis.ts";
import type { RunTimes } from "./engine-time.ts";
import type { SearchTime } from "./expected-time.ts";
import type { PlaceInQueue, ReadQueuePosition, Slot } from "./scheduler.ts";

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
  findings(): Findings;
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
  /** True if `enter` would not wait. */
  hasFreeSlot(): boolean;
  /** @param isAdmitted true if the search had a slot before and gave it back to follow another node, or has followed one */
  enter(isAdmitted: boolean): Promise<Slot>;
  /** Searches, and gives the slot back. */
  searchIn(slot: Slot, publish: (event: SharedEvent) => void): Promise<SharedState>;
  readonly publish: (event: SharedEvent) => void;
  readonly signal: AbortSignal;
  readonly times: RunTimes;
}

/** Shares searches with other nodes. */
export interface Sharing {
  /** Runs the search here, takes its answer from another node, or follows another node that runs it. */
  run(flight: SharedFlight): Promise<SharedState>;
  /** Lets other nodes join the searches of this node. To be called once. */
  serve(join: JoinFlight): void;
}

/** Does the same as `join` of the coalescer, for another node. */
type JoinFlight = (flightKey: string, signal: AbortSignal) => AsyncIterable<SharedEvent> | undefined;
