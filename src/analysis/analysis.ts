import type { MoveDescription } from "../chess/notation.ts";
import type { Position, Terminal } from "../chess/position.ts";
import { type Score, scoreOfTerminal } from "../chess/score.ts";
import type { EngineBuild, OptionValues, SearchCounters } from "../engine/engine.ts";

/** A request as callers write it: nothing is judged yet but the ranges of numbers. */
export interface AnalysisRequest {
  readonly fen: string;
  readonly moves: readonly string[];
  /** Plies. */
  readonly depth: number | undefined;
  readonly multipv: number | undefined;
  readonly movetimeMs: number | undefined;
  /** An engine id or `latest`. */
  readonly engine: string;
  readonly path: "auto" | "wasm" | "native";
  /** By JSON name. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A request that can be run: `judgeRequest` makes it. */
export interface JudgedRequest {
  readonly position: Position;
  readonly build: EngineBuild;
  readonly depth: number;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
  readonly options: OptionValues;
  /** Those of the options that change what the engine does on this position. Equal ones mean equal searches. */
  readonly effectiveOptions: OptionValues;
  /** Whether the options make the engine weaker than it can be. */
  readonly weakened: boolean;
  readonly warnings: readonly Warning[];
}

/** What a request may ask for: the ranges that stand in the proto, for rooms that know none. */
export const requestBounds = {
  /** Plies. */
  depth: { minimum: 1, maximum: 30, default: 14 },
  /** Principal variations. */
  multipv: { minimum: 1, maximum: 10, default: 1 },
  /** Milliseconds. */
  movetimeMs: { minimum: 50, maximum: 60_000 },
} as const;

/** Something that the caller should know. The answer is still right. */
export interface Warning {
  readonly code: string;
  readonly message: string;
  /** The request field that it is about. */
  readonly field: string | undefined;
}

/** Why a search ended. */
export type StopReason = "depth" | "movetime" | "server_limit" | "terminal";

/** A complete state of an analysis. All scores are from White's point of view. */
export interface Analysis {
  readonly request: JudgedRequest;
  readonly score: Score;
  /** Undefined exactly when the game is over. */
  readonly best: MoveDescription | undefined;
  readonly ponder: MoveDescription | undefined;
  /** Best first; empty when the game is over. */
  readonly lines: readonly AnalysisLine[];
  readonly depth: number;
  readonly seldepth: number;
  readonly counters: SearchCounters;
  /** Milliseconds waited for an engine. */
  readonly queueMs: number;
  /** Undefined while the search goes on. */
  readonly stopReason: StopReason | undefined;
  /** Whether depth alone defines the answer: the same request has it again on any instance with the same build. */
  readonly deterministic: boolean;
  /** Whether it is the answer of a search that had ended before; `counters` are of that search. */
  readonly cached: boolean;
  readonly warnings: readonly Warning[];
}

export interface AnalysisLine {
  readonly depth: number;
  readonly seldepth: number;
  readonly score: Score;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

/** The one state of a game that is over: the rules have judged it, and no engine is asked. */
export function analysisOfFinishedGame(request: JudgedRequest, terminal: Terminal): Analysis {
  return {
    request,
    score: scoreOfTerminal(terminal),
    best: undefined,
    ponder: undefined,
    lines: [],
    depth: 0,
    seldepth: 0,
    counters: { nodes: 0, nps: 0, timeMs: 0, hashfull: 0, tbhits: 0 },
    queueMs: 0,
    stopReason: "terminal",
    deterministic: true,
    cached: false,
    warnings: request.warnings,
  };
}
