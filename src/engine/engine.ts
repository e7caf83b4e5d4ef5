import type { Position } from "../chess/position.ts";
import type { Score } from "../chess/score.ts";

/** The engine port, which a backend implements. It does not depend on UCI. */

export type EnginePath = "wasm" | "native";

/** The size of an engine's neural network. */
export type Net = "full" | "lite";

/** Id, path and SHA-256 identify an engine build. */
export interface EngineBuild {
  /** The id names version and network: `stockfish-19`, `stockfish-19-lite`. */
  readonly id: string;
  readonly name: string;
  readonly author: string;
  readonly path: EnginePath;
  readonly family: string;
  readonly version: string;
  readonly net: Net;
  /** An SPDX expression, if the licence is known. */
  readonly license: string | undefined;
  /** The day since which this build is deprecated, such as 2026-11-22. */
  readonly deprecatedSince: string | undefined;
  readonly options: readonly EngineOption[];
  readonly settings: EngineSettings;
  /** True if equal searches of the self-test gave equal answers. Only answers of such a build are cached. */
  readonly reproducible: boolean;
  /** The nodes that the self-test visits, if reproducible: equal in builds of a version and network that are the same engine. */
  readonly selfTestNodes: number | undefined;
  readonly file: string;
  /** SHA-256 in lower-case hex: of the tested file if the engine is native, or of the pinned module if it is WebAssembly. */
  readonly sha256: string;
  /** Throws `no_start` if files have changed since discovery. Compares the content only if sizes or times differ. */
  assertUnchanged(): Promise<void>;
  /** Throws `no_start` if a WebAssembly engine's files do not have their pinned content. The first call reads all of them. */
  assertGenuine(): Promise<void>;
}

/** An option that clients may set, as the engine declares it. */
export type EngineOption = {
  /** The name of the option in JSON, such as `skill_level`. */
  readonly name: string;
  /** The name of the option in the engine, such as `Skill Level`. */
  readonly engineName: string;
} & (
  | { readonly kind: "integer"; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "boolean"; readonly default: boolean }
);

export interface EngineInfo {
  readonly name: string;
  readonly author: string;
  readonly options: readonly EngineOption[];
}

/** Values by the options' JSON names, validated against the options that the engine declares. */
export type OptionValues = Readonly<Record<string, number | boolean>>;

/** A search to run. All limits apply; the first one that is reached ends the search. */
export interface SearchJob {
  readonly position: Position;
  /** The depth limit in plies, at least 1. */
  readonly depth: number | undefined;
  /** The limit of visited positions, at least 1. Engines visit a few more. */
  readonly nodes: number | undefined;
  /** The time limit, at least 1. */
  readonly movetimeMs: number;
  /** The number of lines, at least 1. If fewer moves may be searched, the search reports one line for each of them. */
  readonly multipv: number;
  /** The moves to search, each once, in UCI as the variant writes it. If empty, all legal moves are searched. */
  readonly searchMoves: readonly string[];
  readonly options: OptionValues;
}

/** A principal variation as an engine reports it, in the view of the side to move. */
export interface EngineLine {
  readonly depth: number;
  readonly seldepth: number;
  readonly score: Score;
  /** The moves in UCI, as the variant writes it. */
  readonly moves: readonly string[];
}

/** The state of a search: its newest iteration that is complete for every line. */
export interface Snapshot {
  readonly depth: number;
  /** True if at least one iteration is complete. If false, there is one line, the last one that the engine printed. */
  readonly complete: boolean;
  /** The lines of the search, best first; at least one. */
  readonly lines: readonly EngineLine[];
  readonly counters: SearchCounters;
}

/** The engine's counters of the whole search so far. */
export interface SearchCounters {
  readonly nodes: number;
  readonly nps: number;
  /** The time of the search by the engine's clock. */
  readonly timeMs: number;
  /** The filled part of the hash table, per mille. */
  readonly hashfull: number;
  readonly tbhits: number;
}

/** An event of a search. A search has any number of `progress` events, then exactly one `done`. */
export type SearchEvent = SearchProgress | SearchDone;

export interface SearchProgress {
  readonly kind: "progress";
  readonly snapshot: Snapshot;
}

/** Runs while the engine's output is being read, so it must be quick and must not throw. */
export type OnProgress = (progress: SearchProgress) => void;

export interface SearchDone {
  readonly kind: "done";
  readonly snapshot: Snapshot;
  /** The engine's best move in UCI. It can differ from the first move of the first line if time ended the search. */
  readonly bestMove: string;
  /** The reply that the engine expects, in UCI. */
  readonly ponder: string | undefined;
  /**
   * The limit that ended the search. `depth`: the requested depth, or the greatest depth of engines, is complete for every line.
   * `nodes`: time cannot have ended the search. `stop`: the service ended the search before its time.
   */
  readonly endedBy: "depth" | "nodes" | "time" | "stop";
}

/** The reason why an engine failed, or why a search got no engine. */
export type FailureKind =
  /** The engine could not be started, or it ended before the search began. */
  | "no_start"
  /** The engine's process crashed, or closed its pipe. */
  | "exited"
  /** Another process killed the engine, or the kernel did because memory was short. */
  | "killed"
  /** The engine printed more than the output limit, and was killed. */
  | "flooded"
  /** The engine rejected the position or broke the protocol, and was killed. */
  | "protocol_error"
  /** The engine did not answer `isready` during or after a search, and was killed. */
  | "unresponsive"
  /** The engine gave no answer in time. If it did not stop on request either, it was killed. */
  | "overtime"
  /** The search was not run, because two engines failed on the same position a moment ago. */
  | "quarantined";

interface FailureOptions extends ErrorOptions {
  readonly retryAfterMs?: number;
  readonly blamesPosition?: boolean;
}

/** The error of an engine's session, which has then ended, unless the engine was only stopped before its first line. */
export class EngineFailure extends Error {
  readonly kind: FailureKind;
  /** The time after which an engine may be ready, if known. */
  readonly retryAfterMs: number | undefined;
  /** True if the position may break another engine, too. Slow machines and kills from outside do not blame the position. */
  readonly blamesPosition: boolean;

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = "EngineFailure";
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.blamesPosition = options.blamesPosition ?? (kind === "exited" || kind === "flooded");
  }
}

/** After each search, an engine is `cleaning`: its options are reset and its hash table is cleared. */
export type EngineState = "greeting" | "idle" | "searching" | "cleaning" | "ended";

/** A running engine, which serves one search at a time. */
export interface EngineSession extends AsyncDisposable {
  readonly info: EngineInfo;
  readonly state: EngineState;
  readonly alive: boolean;
  /** Returns the resident memory, if the system reports it. */
  memoryBytes(): number | undefined;
  /** Resolves when the engine is gone: with its failure, or with undefined if the session was closed. */
  readonly exited: Promise<EngineFailure | undefined>;
  /**
   * Settles when the engine can take the next search or is gone; the engine is cleaned after the caller has the answer. If
   * `signal` is aborted, the engine is stopped, and killed if it has not stopped within 400 ms. Throws an EngineFailure if the
   * engine fails or is killed, and the reason of `signal` if it stops.
   */
  search(job: SearchJob, signal: AbortSignal, onProgress?: OnProgress): Promise<SearchDone>;
  /** Ends the running search, if any, as if its time were over: its caller gets the result so far. */
  cutShort(): void;
}

/** A backend, which runs engines on one path. Each folder under `backends/` implements one. */
export interface EngineBackend {
  readonly path: EnginePath;
  /** Leaves out a build that cannot run, and logs the reason. */
  discover(signal: AbortSignal): Promise<readonly EngineBuild[]>;
  /** Throws an EngineFailure of the kind `no_start`. */
  start(build: EngineBuild, signal: AbortSignal): Promise<EngineSession>;
}

/** The operator's settings for every engine. */
export interface EngineSettings {
  /** The size of each engine's hash table, in MiB. */
  readonly hashMb: number;
  readonly threads: number;
}

/** Waits for a promise that ignores `signal`. Throws the reason of `signal` if aborted; the promise's result is then lost. */
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
