import type { Analysis, Findings, JudgedRequest } from "./analysis.ts";
import type { Asker, RunTimes } from "./engine-time.ts";
import type { SearchTime } from "./expected-time.ts";
import type { PlaceInQueue, Slot, Standing } from "./scheduler.ts";

/** What happens to a search. */
export type Followed =
  | { readonly kind: "waiting"; readonly at: PlaceInQueue }
  | { readonly kind: "state"; readonly analysis: Analysis };

/** A search as the caller who began it asked for it. */
export interface Flight {
  readonly asker: Asker;
  readonly request: JudgedRequest;
  readonly time: SearchTime;
  /** Of the cache; undefined for what is not kept. */
  readonly key: string | undefined;
  /** Of searches under way. */
  readonly flightKey: string | undefined;
}

/** What is agreed with a caller about a search of theirs: how long it takes, and what they are told of that. */
export interface Terms extends SearchTime {
  /**
   * Told of all engine time so far, in milliseconds; never for an answer that takes none. That is what the answer
   * says it took, or where there is none the time that the search has run while this caller waited for it.
   */
  readonly onEngineTime: (engineMs: number) => void;
}

/** What a search that several may read tells of itself. Its last word is a state. */
export type SharedEvent = SharedWaiting | SharedState;

/** The search waits. Where it stands is looked up by who reads it: a slow reader is not told of places long left. */
interface SharedWaiting {
  readonly kind: "waiting";
  readonly standing: Standing;
}

/** A state of a search. */
export interface SharedState {
  readonly kind: "state";
  /** Described once, and only if somebody reads it: SAN costs more than a shallow search. */
  findings(): Findings;
  /** Plies. */
  readonly depth: number;
  /** When the search began to wait for its slot, by `performance.now()`, and how long it did. */
  readonly askedAt: number;
  readonly queueMs: number;
  /** Engine time of the search so far, in milliseconds. */
  readonly engineMs: number;
  /** It had ended before it was asked for: another node knew it. */
  readonly cached: boolean;
}

/** A search that is about to be run here, unless another node knows it or is at it. */
export interface SharedFlight {
  /** Of what is kept, and of searches under way. */
  readonly key: string;
  readonly flightKey: string;
  /** Whether `enter` would wait for nothing. */
  hasFreeSlot(): boolean;
  /** @param letIn it had its slot before, and gave it back to follow another node, or has waited for that one */
  enter(letIn: boolean): Promise<Slot>;
  /** Searches, and lets go of the slot. */
  searchIn(slot: Slot, publish: (event: SharedEvent) => void): Promise<SharedState>;
  readonly publish: (event: SharedEvent) => void;
  readonly signal: AbortSignal;
  readonly times: RunTimes;
}

/** What nodes that know of each other do with a search. */
export interface Sharing {
  /** Runs it here, has it from another node, or follows it there. */
  run(flight: SharedFlight): Promise<SharedState>;
  /** Says how this node's own searches are read for other nodes: to be called once. */
  serve(join: JoinFlight): void;
}

/** As `join` of the coalescer, for somebody on another node. */
type JoinFlight = (flightKey: string, signal: AbortSignal) => AsyncIterable<SharedEvent> | undefined;
