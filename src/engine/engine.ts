import type { Position } from "../chess/position.ts";
import type { Score } from "../chess/score.ts";
import type { SearchLimit } from "./profiles.ts";

/** `wasm`: WebAssembly in Node. `native`: an executable file. */
export type EnginePath = "wasm" | "native";

export type Net = "full" | "lite";

/** `id`, `path` and `sha256` together identify a build. */
export interface EngineBuild {
  /** Contains the version and the network, such as `stockfish-19` or `stockfish-19-lite`. */
  readonly id: string;
  readonly name: string;
  readonly author: string;
  readonly path: EnginePath;
  readonly family: string;
  readonly version: string;
  readonly net: Net;
  /** An SPDX expression. Undefined if the licence is unknown. */
  readonly license: string | undefined;
  readonly deprecatedSince: string | undefined;
  readonly options: readonly EngineOption[];
  /** The largest number of principal variations that the engine can print. */
  readonly linesMax: number;
  readonly settings: EngineSettings;
  /** True if two equal searches gave equal results. Only search results of reproducible builds are cached. */
  readonly reproducible: boolean;
  /** The number of nodes in the self-test, equal for all builds of an engine. Undefined if the build is not reproducible. */
  readonly selfTestNodes: number | undefined;
  /** Why this build runs instead of a faster build with equal answers. Undefined if no faster build is known. */
  readonly slowerBecause?: string | undefined;
  /** The limit of a search without a limit. */
  readonly defaultLimit: SearchLimit;
  /** Undefined if the operator has not described the engine. */
  readonly launch: EngineLaunch | undefined;
  /** Why the engine was left out, as a text for clients that ends with a full stop. An engine with a reason is listed, but never started. */
  readonly unavailableReason: string | undefined;
  readonly file: string;
  /**
   * The digest of the WebAssembly module, if it has a host with the host and the network, or of the native executable followed by the files that belong to the engine, in
   * lower-case hexadecimal. Empty if a file is missing.
   */
  readonly sha256: string;
  /** Throws `no_start` if the engine files have changed since discovery. */
  assertUnchanged(): Promise<void>;
  /** Throws `no_start` if the files of a WebAssembly engine do not match their pinned digests. */
  assertGenuine(): Promise<void>;
}

/** How an engine is started that the operator has described. */
export interface EngineLaunch {
  readonly args: readonly string[];
  /** The whole environment of the engine. */
  readonly env: Readonly<Record<string, string>>;
  /** The values of options, by their names in the engine. Callers may change only the options in `options` of the build. */
  readonly options: OptionTexts;
  /** The largest number of engines that run at the same time. Undefined if the slots of the server limit this number. */
  readonly instances: number | undefined;
  /** The memory of one engine. Undefined if unknown. */
  readonly memoryMb: number | undefined;
  /** The time limit of a start. Undefined for the usual time limit. */
  readonly startMs: number | undefined;
  /** A digest of everything in the description that can change a result. */
  readonly digest: string;
}

/** Values of options as in `setoption`, by their names in the engine. */
export type OptionTexts = ReadonlyMap<string, string>;

export type EngineOption = {
  /** The name in JSON, such as `skill_level`. */
  readonly name: string;
  /** The name in the engine, such as `Skill Level`. */
  readonly engineName: string;
} & (
  | { readonly kind: "integer"; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "boolean"; readonly default: boolean }
);

export interface EngineInfo extends Pick<EngineBuild, "name" | "author" | "options" | "linesMax"> {}

/** Validated values, by the names of the options in JSON. */
export type OptionValues = Readonly<Record<string, number | boolean>>;

/** The first limit that is reached ends the search. */
export interface SearchJob {
  readonly position: Position;
  /** The depth limit in plies, at least 1. */
  readonly depth: number | undefined;
  /** The largest number of visited positions, at least 1. Engines exceed this number slightly. */
  readonly nodes: number | undefined;
  readonly movetimeMs: number;
  /** The number of principal variations, at least 1. An engine that can print fewer prints as many as it can. */
  readonly multipv: number;
  /** UCI moves without duplicates, with castling in Chess960 as `e1h1`. If empty, all legal moves are searched. */
  readonly searchMoves: readonly string[];
  readonly options: OptionValues;
}

/** A principal variation. The score is from the point of view of the side to move. */
export interface EngineLine {
  readonly depth: number;
  readonly seldepth: number;
  readonly score: Score;
  /** UCI moves. In Chess960, castling is a move of the king to the rook, such as `e1h1`. */
  readonly moves: readonly string[];
}

export interface Snapshot {
  readonly depth: number;
  /** False before the first complete iteration. `lines` then contains only the newest variation for the best move. */
  readonly complete: boolean;
  /** Best first. Never empty. */
  readonly lines: readonly EngineLine[];
  readonly counters: SearchCounters;
}

export interface SearchCounters {
  readonly nodes: number;
  readonly nps: number;
  readonly timeMs: number;
  /** The fill level of the hash table, per mille. */
  readonly hashfull: number;
  readonly tbhits: number;
}

/** A search has any number of `progress` events, followed by one `done` event. */
export type SearchEvent = SearchProgress | SearchDone;

export interface SearchProgress {
  readonly kind: "progress";
  readonly snapshot: Snapshot;
}

/** Called while the engine's output is read. Must be quick and must not throw. */
export type OnProgress = (progress: SearchProgress) => void;

export interface SearchDone {
  readonly kind: "done";
  readonly snapshot: Snapshot;
  /** A UCI move. If time ended the search, this move can differ from the first move of the best variation. */
  readonly bestMove: string;
  /** The expected reply to the best move, in UCI notation. */
  readonly ponder: string | undefined;
  /**
   * `depth`: the requested depth or the engine's largest depth is complete, or the engine ended its search by itself. `stop`: the
   * service ended the search early.
   * `time`: also if the depth or the nodes were reached, but the result came after the time limit or after `stop`.
   */
  readonly endedBy: "depth" | "nodes" | "time" | "stop";
}

export type FailureKind =
  /** The engine could not be started, or ended before the search began. */
  | "no_start"
  | "exited"
  /** Another process or the kernel killed the engine, for example because memory was short. */
  | "killed"
  /** The engine printed too much output, and was killed. */
  | "flooded"
  /** The engine rejected the position or broke the protocol, and was killed. */
  | "protocol_error"
  /** The engine did not answer `isready`, and was killed. */
  | "unresponsive"
  /** The time limit passed before the engine had a result. If the engine also ignored `stop`, the engine was killed. */
  | "overtime"
  /** The search was not started, because this position recently made two engines fail. */
  | "quarantined";

interface FailureOptions extends ErrorOptions {
  readonly retryAfterMs?: number;
  readonly blamesPosition?: boolean;
}

/**
 * Thrown when an engine fails. The session has usually ended, but continues if the engine was only stopped before its first
 * `info` line.
 */
export class EngineFailure extends Error {
  readonly kind: FailureKind;
  /** Milliseconds until a retry may succeed. Undefined if unknown. */
  readonly retryAfterMs: number | undefined;
  /** True if the position probably caused the failure. False if the machine was slow or another process killed the engine. */
  readonly blamesPosition: boolean;

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = "EngineFailure";
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.blamesPosition = options.blamesPosition ?? (kind === "exited" || kind === "flooded");
  }
}

/** In the state `cleaning`, the options are reset and the hash table is cleared. */
export type EngineState = "greeting" | "idle" | "searching" | "cleaning" | "ended";

export interface EngineSession extends AsyncDisposable {
  readonly info: EngineInfo;
  readonly state: EngineState;
  readonly alive: boolean;
  /** The resident memory of the engine. Undefined if the operating system does not report the memory. */
  memoryBytes(): number | undefined;
  /** Resolves when the engine has ended: with the failure, or with undefined if the session was closed. */
  readonly exited: Promise<EngineFailure | undefined>;
  /**
   * Waits for the end of the cleaning. Throws an EngineFailure of the kind `no_start` if the engine ends first, or at once the
   * reason of `signal` after an abort.
   */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * Waits until the engine is ready. The search, its time limit and its progress begin then. Resolves as soon as the result is
   * known. If `signal` is aborted, an engine that does not stop within 400 ms is killed.
   * Throws EngineFailure if the engine fails or is killed, or the reason of `signal` if the engine stops in time.
   */
  search(job: SearchJob, signal: AbortSignal, onProgress?: OnProgress): Promise<SearchDone>;
  /** Ends a running search as if the time limit had passed. */
  cutShort(): void;
}

/** Starts native engines or WebAssembly engines. */
export interface EngineBackend {
  readonly path: EnginePath;
  /** Omits a build that cannot run, and logs the reason. */
  discover(signal: AbortSignal): Promise<readonly EngineBuild[]>;
  /** Throws an EngineFailure of the kind `no_start`. */
  start(build: EngineBuild, signal: AbortSignal): Promise<EngineSession>;
}

export interface EngineSettings {
  readonly hashMb: number;
  readonly threads: number;
}

/** Waits for a promise that does not support `signal`. Throws the reason of `signal` after an abort. */
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
