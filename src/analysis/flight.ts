import type { Analysis, SearchResult } from "./analysis.ts";
import type { SearchTime } from "./expected-time.ts";
import type { QueuePosition, ReadQueuePosition, Slot } from "./scheduler.ts";

export type Followed =
  | { readonly kind: "waiting"; readonly at: QueuePosition }
  | { readonly kind: "state"; readonly analysis: Analysis };

export interface Terms extends SearchTime {
  /** If the caller gets no result, reports how long the engine searched while the caller waited. */
  readonly onEngineTime: (engineMs: number) => void;
}

export type SharedEvent = SharedWaiting | SharedState;

/** Contains a function instead of a number, so that a slow reader gets the current queue position. */
interface SharedWaiting {
  readonly kind: "waiting";
  readonly readPosition: ReadQueuePosition;
}

export interface SharedState {
  readonly kind: "state";
  /** Creates the result only at the first call, because writing SAN takes longer than a shallow search. */
  result(): SearchResult;
  readonly depth: number;
  /** By `now()`. */
  readonly askedAt: number;
  readonly queueMs: number;
  /** 0 after the search was set back. */
  readonly engineMs: number;
  readonly cached: boolean;
}

/** This node runs the search only if no other node has the result or runs an equal search. */
export interface SharedFlight {
  readonly key: string;
  /** False if another build than the build of `key` has searched. */
  isKeyCurrent(): boolean;
  /** Identifies the running search. Unlike `key`, includes the movetime. */
  readonly flightKey: string;
  /** Waits for a slot. Rejects with the abort reason of `signal`. */
  enter(signal: AbortSignal): Promise<Slot>;
  /** Searches, and disposes of the slot. Resolves with undefined if the search must run again in another slot. */
  search(slot: Slot): Promise<SharedState | undefined>;
  /** Aborts when no caller waits for the search any more. */
  readonly signal: AbortSignal;
  /** Aborts when a caller reads intermediate states. This node must then run the search. */
  readonly streamed: AbortSignal;
}

export interface Sharing {
  run(flight: SharedFlight): Promise<SharedState>;
}
