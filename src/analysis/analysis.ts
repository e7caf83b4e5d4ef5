import { describeMove, describeReply, describeVariation, type MoveDescription } from "../chess/moves.ts";
import { pliesMax } from "../chess/play-game.ts";
import type { Position, Terminal } from "../chess/position.ts";
import { type Score, scoreForWhite, scoreOfTerminal } from "../chess/score.ts";
import type {
  EngineBuild,
  EngineLine,
  OptionValues,
  SearchCounters,
  SearchDone,
  SearchEvent,
} from "../engine/engine.ts";
import { defaultDepth, type SearchLimit } from "../engine/profiles.ts";
import type { TableResult } from "../tablebase/results.ts";

/** A request as the client sent it. Only the ranges of the numbers were validated. */
export interface AnalysisRequest {
  readonly fen: string;
  readonly moves: readonly string[];
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly multipv: number | undefined;
  readonly movetimeMs: number | undefined;
  /** In UCI or SAN. If empty, all legal moves are searched. */
  readonly searchMoves: readonly string[];
  readonly engine: string;
  readonly path: "auto" | "wasm" | "native";
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ValidatedRequest {
  readonly position: Position;
  /** The number of moves in the request. Playing many moves takes time, so a later error costs more of the error quota. */
  readonly movesPlayed: number;
  readonly build: EngineBuild;
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
  /** In UCI and in alphabetical order. If empty, all legal moves are searched. */
  readonly searchMoves: readonly string[];
  readonly options: OptionValues;
  /** Only options that influence the search. Requests that differ in other options share a search. */
  readonly effectiveOptions: OptionValues;
  readonly weakened: boolean;
  readonly warnings: readonly Warning[];
}

/** The same ranges as in the proto files, for modules that do not import the generated code. */
export const requestBounds = {
  depth: { minimum: 1, maximum: 30, default: defaultDepth },
  nodes: { minimum: 1, maximum: 1_000_000_000 },
  multipv: { minimum: 1, maximum: 10, default: 1 },
  movetimeMs: { minimum: 50, maximum: 60_000 },
  reviewPlies: { minimum: 1, maximum: pliesMax },
} as const;

export const batchItemsMax: number = 200;

/** The largest limits that the plan of a caller allows. */
export interface AllowedLimits {
  readonly depthMax: number;
  readonly nodesMax: number;
}

/**
 * If the request has no limit, returns the default limit of the engine, reduced to the allowed limit: a plan refuses only what a
 * caller asks for. If only the nodes are limited, the depth is undefined.
 */
export function searchLimitOf(
  { depth, nodes }: Pick<AnalysisRequest, "depth" | "nodes">,
  { defaultLimit }: Pick<EngineBuild, "defaultLimit">,
  { depthMax, nodesMax }: AllowedLimits,
): SearchLimit {
  return depth === undefined && nodes === undefined
    ? { depth: atMost(defaultLimit.depth, depthMax), nodes: atMost(defaultLimit.nodes, nodesMax) }
    : { depth, nodes };
}

function atMost(limit: number | undefined, maximum: number): number | undefined {
  return limit === undefined ? undefined : Math.min(limit, maximum);
}

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly field: string | undefined;
}

/** The code of the warning that a path was chosen on which only another version than `latest` runs. */
export const engineVersionDiffers = "engine_version_differs";
/** The code of the warning that the best move is from the endgame tables, because the move of the engine gives the result away. */
export const bestMoveFromTablebase = "best_move_from_tablebase";

type StopReason = "depth" | "nodes" | "movetime" | "server_limit" | "terminal";

export interface Analysis extends Omit<SearchResult, "best" | "endedBy"> {
  readonly request: ValidatedRequest;
  /** Undefined if and only if the game is over. `lines` is empty in this case. */
  readonly best: MoveDescription | undefined;
  /** The result in the endgame tables. Undefined if they do not know the position, or if the game is over. */
  readonly tablebase: TableResult | undefined;
  readonly queueMs: number;
  readonly stopReason: StopReason | undefined;
  /** True if the server stopped the search because of its own shutdown. */
  readonly cutShort: boolean;
  /** True if the search ended before this request arrived. `counters` then describes the earlier search. */
  readonly cached: boolean;
}

export interface AnalysisLine {
  readonly depth: number;
  readonly seldepth: number;
  readonly score: Score;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

export function analysisOfFinishedGame(request: ValidatedRequest, terminal: Terminal): Analysis {
  return {
    request,
    score: scoreOfTerminal(terminal),
    best: undefined,
    ponder: undefined,
    tablebase: undefined,
    lines: [],
    depth: 0,
    seldepth: 0,
    counters: { nodes: 0, nps: 0, timeMs: 0, hashfull: 0, tbhits: 0 },
    queueMs: 0,
    stopReason: "terminal",
    deterministic: true,
    cutShort: false,
    cached: false,
    warnings: request.warnings,
  };
}

/**
 * The result for all requests that share the search. All values can be written as JSON. Scores are from White's point of view.
 */
export interface SearchResult {
  readonly score: Score;
  readonly best: MoveDescription;
  readonly ponder: MoveDescription | undefined;
  readonly lines: readonly AnalysisLine[];
  readonly depth: number;
  readonly seldepth: number;
  readonly counters: SearchCounters;
  readonly endedBy: SearchDone["endedBy"] | undefined;
  readonly deterministic: boolean;
  readonly warnings: readonly Warning[];
}

type Searched = Pick<ValidatedRequest, "position" | "build" | "weakened">;

/** Converts the scores to White's point of view and adds the moves in SAN. Throws if the best move is illegal. */
export function resultFromEvent(event: SearchEvent, { position, build, weakened }: Searched): SearchResult {
  const { snapshot } = event;
  const lines = snapshot.lines.map((line) => describeLine(line, position));
  const [first] = lines;
  const endedBy = event.kind === "done" ? event.endedBy : undefined;
  const bestMove = event.kind === "done" ? event.bestMove : first?.moves[0];
  const reply = event.kind === "done" ? event.ponder : first?.moves[1];
  const best = bestMove === undefined ? undefined : describeMove(position, bestMove);
  if (first === undefined || best === undefined) {
    throw new Error(`${build.id} answered ${bestMove ?? "no move"}, which is not legal in ${position.fen}`);
  }
  const { ended, field } = endOf(endedBy);
  const warnings: Warning[] = [];
  if (!snapshot.complete) {
    warnings.push({
      code: "incomplete_iteration",
      message: `${ended} before the first iteration was complete; the line is the last one that the engine printed.`,
      field,
    });
  }
  if (event.kind === "done" && best.uci !== first.moves[0] && !weakened) {
    warnings.push({
      code: "best_move_beyond_lines",
      message: `${ended} while the engine was changing its mind: the best move is newer than the lines.`,
      field: undefined,
    });
  }
  return {
    score: first.score,
    best,
    ponder: reply === undefined ? undefined : describeReply(position, best.uci, reply),
    lines,
    depth: snapshot.depth,
    seldepth: first.seldepth,
    counters: snapshot.counters,
    endedBy,
    // A limit of depth or nodes ends the search at the same point on every machine.
    deterministic: (endedBy === "depth" || endedBy === "nodes") && build.reproducible && !weakened,
    warnings,
  };
}

/** Returns the beginning of a sentence about the end of a search, and the field of the limit that ended the search. */
function endOf(endedBy: SearchResult["endedBy"]): {
  readonly ended: string;
  readonly field: string | undefined;
} {
  switch (endedBy) {
    case "depth":
      return { ended: "The engine ended its search", field: undefined };
    case "nodes":
      return { ended: "The nodes ran out", field: "nodes" };
    default:
      return { ended: "Time ran out", field: "movetime_ms" };
  }
}

function describeLine({ depth, seldepth, score, moves: ucis }: EngineLine, position: Position): AnalysisLine {
  const { moves, san } = describeVariation(position, ucis, 0);
  return { depth, seldepth, score: scoreForWhite(score, position.turn), moves, san };
}

/** Returns the engine's part of an analysis. The endgame tables are asked anew for each request. */
export function analysisFromResult(
  { endedBy, warnings, ...result }: SearchResult,
  request: ValidatedRequest,
  served: Pick<Analysis, "queueMs" | "cached">,
): Analysis {
  return {
    ...result,
    ...served,
    request,
    tablebase: undefined,
    stopReason: stopReasonOf(endedBy, request),
    cutShort: endedBy === "stop",
    warnings: [...request.warnings, ...warnings],
  };
}

function stopReasonOf(
  endedBy: SearchResult["endedBy"],
  { movetimeMs }: ValidatedRequest,
): StopReason | undefined {
  switch (endedBy) {
    case "time":
      return movetimeMs === undefined ? "server_limit" : "movetime";
    case "stop":
      return "server_limit";
    default:
      return endedBy;
  }
}

/** Returns the moves to search. Returns an empty list if `searchMoves` contains all legal moves. */
export function restrictionOf({ position, searchMoves }: ValidatedRequest): readonly string[] {
  return searchMoves.length === position.legalMoveCount ? [] : searchMoves;
}

/**
 * Requests with the same key get the same result. Returns undefined if the options make the engine play random moves, or if the
 * engine is not reproducible.
 * The key does not contain `movetime_ms`: a request with `movetime_ms: 50` can get a cached result of a longer search.
 * The key contains the SHA-256 of the engine file, because the operator may replace the file and keep the stored results.
 */
export function cacheKeyOf(request: ValidatedRequest): string | undefined {
  if (request.weakened || !request.build.reproducible) {
    return undefined;
  }
  const { position, build, depth, nodes, multipv, effectiveOptions } = request;
  const variant = position.chess960 ? "chess960" : "standard";
  const limits = `${depth ?? ""}|${nodes ?? ""}|${multipv}|${restrictionOf(request).join(" ")}`;
  return `${position.root}|${position.moves.join(" ")}|${variant}|${keyOfBuild(build)}|${limits}|${keyOfOptions(effectiveOptions)}`;
}

/** Contains the movetime, because the movetime may end the search. */
export function flightKeyOf(cacheKey: string, movetimeMs: number): string {
  return `${cacheKey}|${movetimeMs}`;
}

/** Returns true if the search takes at least about 10 ms. Getting a result from another node takes a thirtieth of this time. */
export function isWorthSharing(limits: DepthAndNodes): boolean {
  return isAtLeast(limits, 10, 10_000);
}

/** Returns true if the search takes at least about 1 ms. Storing and reading a result takes a thirtieth of this time. */
export function isWorthStoring(limits: DepthAndNodes): boolean {
  return isAtLeast(limits, 6, 1000);
}

type DepthAndNodes = Pick<ValidatedRequest, "depth" | "nodes">;

/** Uses the limits of the search, because a measured time depends on the load of the machine. */
function isAtLeast({ depth, nodes }: DepthAndNodes, leastDepth: number, leastNodes: number): boolean {
  return (depth ?? leastDepth) >= leastDepth && (nodes ?? leastNodes) >= leastNodes;
}

function keyOfBuild({ id, path, sha256, settings, selfTestNodes, launch }: EngineBuild): string {
  // If the engine is a script, the digest does not change with the binary that the script runs, but the number of nodes in the
  // self-test does.
  const described = launch?.digest ?? "";
  return `${id}|${path}|${sha256}|${settings.threads}|${settings.hashMb}|${selfTestNodes}|${described}`;
}

function keyOfOptions(options: OptionValues): string {
  const names = Object.keys(options).toSorted();
  return names.map((name) => `${name}=${options[name]}`).join(" ");
}
