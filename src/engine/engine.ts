import type { Position } from "../chess/position.ts";
import type { Score } from "../chess/score.ts";

/**
 * The engine port: builds, sessions, searches and their events. A backend implements these types. They do not depend on UCI.
 */

/** How an engine is run. */
export type EnginePath = "wasm" | "native";

/** Size of an engine's neural network. */
export type Net = "full" | "lite";

/** An engine binary that can be started. Id, path and SHA-256 identify it. */
export interface EngineBuild {
  /** Names version and network: `stockfish-19`, `stockfish-19-lite`. */
  readonly id: string;
  /** The name that the engine gives itself: `Stockfish 19 WASM`. */
  readonly name: string;
  /** The author, in the engine's own words. */
  readonly author: string;
  readonly path: EnginePath;
  readonly family: string;
  readonly version: string;
  readonly net: Net;
  /** SPDX expression, if known. */
  readonly license: string | undefined;
  /** The day, such as 2026-11-22, since which this build is deprecated; undefined if it stays. */
  readonly deprecatedSince: string | undefined;
  /** The options that callers may set. */
  readonly options: readonly EngineOption[];
  /** The operator's settings for every engine of this build. */
  readonly settings: EngineSettings;
  /** True if equal searches gave equal answers in the self-test. Only answers of such a build are deterministic and cached. */
  readonly reproducible: boolean;
  /**
   * Nodes that the fixed search of the self-test visits, if the build is reproducible. Two builds of one version and network
   * must visit the same number, or they are not the same engine.
   */
  readonly selfTestNodes: number | undefined;
  /** The file that is run. For logs and digests. */
  readonly file: string;
  /** SHA-256 in lower-case hex: of the file that was tested if the engine is native, of the module that is pinned if it is WebAssembly. */
  readonly sha256: string;
  /**
   * Checks before a start that the files have not changed since discovery. If sizes or times differ, the content decides.
   * @throws EngineFailure of the kind `no_start` if they were replaced or are gone
   */
  assertUnchanged(): Promise<void>;
  /**
   * Checks that the files of a WebAssembly engine have their known content. The first call reads all of them.
   * @throws EngineFailure of the kind `no_start`
   */
  assertGenuine(): Promise<void>;
}

/** An option that callers may set, as the engine itself declares it. */
export type EngineOption = {
  /** JSON name: `skill_level`. */
  readonly name: string;
  /** The engine's own name: `Skill Level`. */
  readonly engineName: string;
} & (
  | { readonly kind: "integer"; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "boolean"; readonly default: boolean }
);

/** The name, author and options that a started engine reports. */
export interface EngineInfo {
  readonly name: string;
  readonly author: string;
  readonly options: readonly EngineOption[];
}

/** Option values by JSON name, validated against the engine's options. */
export type OptionValues = Readonly<Record<string, number | boolean>>;

/** One search. All limits apply; the first one reached ends it. */
export interface SearchJob {
  readonly position: Position;
  /** Plies, at least 1; undefined if depth is no limit. */
  readonly depth: number | undefined;
  /** Positions to visit, at least 1; undefined if they are no limit. Engines visit a few more. */
  readonly nodes: number | undefined;
  /** Milliseconds, at least 1. */
  readonly movetimeMs: number;
  /** Lines, at least 1. The search reports min(multipv, number of moves that it may search) lines. */
  readonly multipv: number;
  /** The moves to search, UCI in the notation of the position's variant, each once; if empty, all legal moves. */
  readonly searchMoves: readonly string[];
  readonly options: OptionValues;
}

/** One principal variation as an engine reports it: from the point of view of the side to move. */
export interface EngineLine {
  readonly depth: number;
  readonly seldepth: number;
  readonly score: Score;
  /** UCI, in the notation of the position's variant. */
  readonly moves: readonly string[];
}

/** The state of a search: its newest iteration that is complete for every line. */
export interface Snapshot {
  /** Plies of the iteration. */
  readonly depth: number;
  /** False if not even one iteration was complete: then there is one line, as last printed. */
  readonly complete: boolean;
  /** Best first, at least one. */
  readonly lines: readonly EngineLine[];
  readonly counters: SearchCounters;
}

/** Counters of the whole search so far. */
export interface SearchCounters {
  readonly nodes: number;
  /** Nodes a second. */
  readonly nps: number;
  /** Milliseconds by the engine's clock. */
  readonly timeMs: number;
  /** Per mille. */
  readonly hashfull: number;
  readonly tbhits: number;
}

/** An event of a search: any number of complete states, then exactly one `done`. */
export type SearchEvent = SearchProgress | SearchDone;

export interface SearchProgress {
  readonly kind: "progress";
  readonly snapshot: Snapshot;
}

/** Called with each state of a search while the engine's output is being read: it must be quick and must not throw. */
export type OnProgress = (progress: SearchProgress) => void;

export interface SearchDone {
  readonly kind: "done";
  readonly snapshot: Snapshot;
  /** The engine's choice, UCI. It can differ from the first line's move if time ended the search. */
  readonly bestMove: string;
  /** The reply that the engine expects, UCI. */
  readonly ponder: string | undefined;
  /**
   * `depth` only if the requested depth is complete for every line, or the greatest depth of engines if none was
   * requested; `nodes` only if time cannot have ended the search; `stop` if the service ended the search before its
   * time.
   */
  readonly endedBy: "depth" | "nodes" | "time" | "stop";
}

/** The reason why an engine failed, or why a search got no engine. */
export type FailureKind =
  /** The engine could not be started, or was gone before the search began. */
  | "no_start"
  /** The process ended by itself: it crashed, or closed its pipe. */
  | "exited"
  /** Another process killed the engine, or the kernel did because memory was short. */
  | "killed"
  /** The engine printed more than the output limit, and was killed. */
  | "flooded"
  /** The engine refused the position or broke the protocol, and was killed. */
  | "protocol_error"
  /** The engine did not answer `isready` during or after a search, and was killed. */
  | "unresponsive"
  /** The engine gave no answer in time. If it did not stop either, it was killed. */
  | "overtime"
  /** The search was not run, because two engines failed on this position a moment ago. */
  | "quarantined";

interface FailureOptions extends ErrorOptions {
  readonly retryAfterMs?: number;
  readonly blamesPosition?: boolean;
}

/** Thrown by a session whose engine failed. The session has ended then, unless the engine was only stopped before its first line. */
export class EngineFailure extends Error {
  readonly kind: FailureKind;
  /** When an engine may be ready, in milliseconds, if known. */
  readonly retryAfterMs: number | undefined;
  /**
   * True if the same position may break another engine too: by default, if the engine crashed or exceeded the output
   * limit. A slow machine or a kill from outside says nothing about the position.
   */
  readonly blamesPosition: boolean;

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = "EngineFailure";
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.blamesPosition = options.blamesPosition ?? (kind === "exited" || kind === "flooded");
  }
}

/** An engine is cleaned after each search: its options are reset and its hash table is cleared. */
export type EngineState = "greeting" | "idle" | "searching" | "cleaning" | "ended";

/** One running engine. One search at a time. */
export interface EngineSession extends AsyncDisposable {
  readonly info: EngineInfo;
  readonly state: EngineState;
  /** False if the engine is gone, or is about to be. */
  readonly alive: boolean;
  /** Resident memory in bytes, if the system reports it. */
  memoryBytes(): number | undefined;
  /** Resolves when the engine is gone: with its failure, or with undefined if the session was closed. */
  readonly exited: Promise<EngineFailure | undefined>;
  /**
   * Searches. Settles when the engine can take the next search or is gone: it is cleaned after the caller has the answer.
   *
   * @throws EngineFailure if the engine fails. If `signal` is aborted, the engine is stopped, and killed if it has not
   * stopped within 400 ms; then the reason of `signal`, or the failure of an engine that had to be killed
   */
  search(job: SearchJob, signal: AbortSignal, onProgress?: OnProgress): Promise<SearchDone>;
  /** Ends the running search as if its time were over: the caller gets the result so far. Does nothing if there is no search. */
  cutShort(): void;
}

/** The port that a folder under `backends/` implements. */
export interface EngineBackend {
  readonly path: EnginePath;
  /** Finds the builds. A build that cannot run is left out, with a line in the log. */
  discover(signal: AbortSignal): Promise<readonly EngineBuild[]>;
  /** @throws EngineFailure of the kind `no_start`. */
  start(build: EngineBuild, signal: AbortSignal): Promise<EngineSession>;
}

/** The operator's settings for every engine. */
export interface EngineSettings {
  /** Size of each engine's hash table, in MiB. */
  readonly hashMb: number;
  readonly threads: number;
}

/** Waits for a promise that ignores `signal`. @throws the reason of `signal` as soon as that is aborted; the result is lost then. */
export async function beforeAbort<Value>(awaited: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const leave = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([awaited, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
