import type { Transitions } from "../../errors/errors.ts";
import { EngineFailure, type EngineState } from "../engine.ts";
import type { UciLine } from "./parse-line.ts";
import type { UciSearch } from "./search.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";
import { createDeadline, type Deadline } from "./watch.ts";

/** What was sent in the greeting, and waits for an answer. */
interface Exchange {
  receive(line: UciLine): void;
  fail(failure: EngineFailure): void;
}

/** While the engine is there. */
type Living =
  | { readonly kind: "greeting"; readonly exchange: Exchange | undefined }
  | { readonly kind: "idle" }
  | { readonly kind: "searching"; readonly search: UciSearch }
  /** Lines that clean up wait for a search to travel with, until the turn ends. */
  | { readonly kind: "unclean"; readonly lines: readonly string[]; readonly cleanBy: Deadline }
  | { readonly kind: "cleaning"; readonly cleanBy: Deadline }
  /** A search lies behind the cleaning, and the engine has not said its first line yet. */
  | { readonly kind: "queued"; readonly search: UciSearch; readonly cleanBy: Deadline };

/**
 * What is going on between a session and its engine:
 *
 *     greeting ──readyok──▶ idle ──search──▶ searching ◀──first line── queued
 *      ⟲ uciok               ▲                  │                      ▲   ▲
 *                            │ readyok          │ bestmove             │   │
 *                            │                  ▼                      │   │
 *                         cleaning ◀──turn── unclean ──search──────────┘   │
 *                            └──search─────────────────────────────────────┘
 *
 *     each of these ──the pipe ends──▶ hung up ──▶ ended
 *     each of these ──a failure, or closed───────▶ ended
 *
 * Whether its caller still waits is the search's state.
 */
export type SessionState =
  | Living
  /** Its pipe has ended; how the process did comes a moment later. */
  | { readonly kind: "hung up"; readonly was: Living }
  /** It is gone or being killed; without a failure it was meant to. */
  | { readonly kind: "ended"; readonly failure: EngineFailure | undefined };

export const sessionTransitions: Transitions<SessionState["kind"]> = {
  greeting: ["greeting", "idle", "hung up", "ended"],
  idle: ["searching", "hung up", "ended"],
  searching: ["unclean", "hung up", "ended"],
  unclean: ["cleaning", "queued", "hung up", "ended"],
  cleaning: ["idle", "queued", "hung up", "ended"],
  queued: ["searching", "hung up", "ended"],
  "hung up": ["ended"],
  ended: [],
};

/** What is told of it outside. */
export function engineStateOf(state: SessionState): EngineState {
  return isLeft(state) ? "stopping" : told[state.kind];
}

const told: Readonly<Record<SessionState["kind"], EngineState>> = {
  greeting: "starting",
  idle: "idle",
  searching: "busy",
  unclean: "stopping",
  cleaning: "stopping",
  queued: "busy",
  "hung up": "dead",
  ended: "dead",
};

/** Whether the engine has a search that nobody waits for. */
export function isLeft(state: SessionState): state is Extract<Living, { search: UciSearch }> {
  return "search" in state && !state.search.isWanted();
}

/** The search that the engine has, or had when its pipe ended. */
export function searchOf(state: SessionState): UciSearch | undefined {
  const living = state.kind === "hung up" ? state.was : state;
  return "search" in living ? living.search : undefined;
}

/** An engine that is still being cleaned has not begun the search behind that: it is not what broke it. */
export function blamed(failure: EngineFailure, state: SessionState): EngineFailure {
  const living = state.kind === "hung up" ? state.was : state;
  return living.kind === "queued"
    ? new EngineFailure("no_start", "not ready again", { cause: failure })
    : failure;
}

/** How long after its pipe a process takes to end, in milliseconds. */
const exitNewsMs = 200;

/** Why the pipe of an engine has ended: a moment before the system tells how the process did. */
export async function failureOfExit({ ended }: UciTransport): Promise<EngineFailure> {
  const unknown = Promise.withResolvers<ProcessEnd>();
  const deadline = createDeadline(exitNewsMs, () => unknown.resolve("itself"));
  const end = await Promise.race([ended, unknown.promise]);
  deadline.clear();
  return end === "outside"
    ? new EngineFailure("killed", "the engine was killed from outside")
    : new EngineFailure("exited", "the engine closed its pipe");
}

/** What those are told who wait for an engine that was meant to end. */
export function closedByUs(): EngineFailure {
  return new EngineFailure("exited", "the engine was closed");
}
