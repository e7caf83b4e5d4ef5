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

/** A request as the client sent it. Only the ranges of its numbers are validated. */
export interface AnalysisRequest {
  readonly fen: string;
  readonly moves: readonly string[];
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly multipv: number | undefined;
  readonly movetimeMs: number | undefined;
  /** The only moves to search, in UCI or SAN. If empty, all legal moves are searched. */
  readonly searchMoves: readonly string[];
  /** An engine id or `latest`. */
  readonly engine: string;
  readonly path: "auto" | "wasm" | "native";
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ValidatedRequest {
  readonly position: Position;
  /** The number of moves that the client sent. Playing them is work, even if the request is rejected afterwards. */
  readonly movesPlayed: number;
  readonly build: EngineBuild;
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
  /** The moves to search in UCI, as `readSearchMoves` writes them; empty if the request names none. */
  readonly searchMoves: readonly string[];
  readonly options: OptionValues;
  /** The options that change the search: requests that differ only in other options have equal searches. */
  readonly effectiveOptions: OptionValues;
  /** True if the options make the engine weaker than it can be. */
  readonly weakened: boolean;
  readonly warnings: readonly Warning[];
}

/** The ranges of a request's numbers, as in the proto files, for modules that do not import those. */
export const requestBounds = {
  depth: { minimum: 1, maximum: 30, default: 14 },
  nodes: { minimum: 1, maximum: 1_000_000_000 },
  multipv: { minimum: 1, maximum: 10, default: 1 },
  movetimeMs: { minimum: 50, maximum: 60_000 },
  reviewPlies: { minimum: 1, maximum: pliesMax },
} as const;

export const batchItemsMax: number = 200;

/** Returns the depth limit of a search; undefined if only nodes limit it. */
export function depthLimitOf({ depth, nodes }: Pick<AnalysisRequest, "depth" | "nodes">): number | undefined {
  return depth ?? (nodes === undefined ? requestBounds.depth.default : undefined);
}

/** A warning for the client. The answer is right all the same. */
export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly field: string | undefined;
}

type StopReason = "depth" | "nodes" | "movetime" | "server_limit" | "terminal";

/** A complete state of an analysis: the search result, and how this request got it. */
export interface Analysis extends Omit<SearchResult, "best" | "endedBy"> {
  readonly request: ValidatedRequest;
  /** The best move; undefined if and only if the game is over. Then there are no lines either. */
  readonly best: MoveDescription | undefined;
  /** The time that this request waited for a slot, in milliseconds. */
  readonly queueMs: number;
  /** The reason is undefined while the search goes on. */
  readonly stopReason: StopReason | undefined;
  /** True if the search was stopped before it reached any of its limits, because the server is stopping. */
  readonly cutShort: boolean;
  /** True if the answer is the result of a search that had ended before the request. `counters` are those of that search. */
  readonly cached: boolean;
}

export interface AnalysisLine {
  readonly depth: number;
  readonly seldepth: number;
  readonly score: Score;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

/** Makes the only state of a finished game from the rules of chess alone. No engine searches the position. */
export function analysisOfFinishedGame(request: ValidatedRequest, terminal: Terminal): Analysis {
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
    cutShort: false,
    cached: false,
    warnings: request.warnings,
  };
}

/** Plain data that is equal for all equal searches, so it is shared and cached. All scores are in White's view. */
export interface SearchResult {
  readonly score: Score;
  readonly best: MoveDescription;
  readonly ponder: MoveDescription | undefined;
  /** The lines of the search, best first; at least one. */
  readonly lines: readonly AnalysisLine[];
  readonly depth: number;
  readonly seldepth: number;
  readonly counters: SearchCounters;
  /** The reason is undefined while the search goes on. */
  readonly endedBy: SearchDone["endedBy"] | undefined;
  /** True if depth and nodes alone define the result, so that any search with the same key finds the same result. */
  readonly deterministic: boolean;
  /** Warnings about the search. Warnings about a request are added to the answer to that request. */
  readonly warnings: readonly Warning[];
}

/** The part of a request that is equal in all requests that share a search. */
type Searched = Pick<ValidatedRequest, "position" | "build" | "weakened">;

/** Puts scores in White's view and SAN beside UCI, and adds warnings. Throws if the best move is illegal. */
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
  const limit = endedBy === "nodes" ? "The nodes" : "Time";
  const warnings: Warning[] = [];
  if (!snapshot.complete) {
    warnings.push({
      code: "incomplete_iteration",
      message: `${limit} ran out before the first iteration was complete; the line is the last one that the engine printed.`,
      field: endedBy === "nodes" ? "nodes" : "movetime_ms",
    });
  }
  if (event.kind === "done" && best.uci !== first.moves[0] && !weakened) {
    warnings.push({
      code: "best_move_beyond_lines",
      message: `${limit} ran out while the engine was changing its mind: the best move is newer than the lines.`,
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
    // Depth and nodes end a search at the same point on every machine.
    deterministic: (endedBy === "depth" || endedBy === "nodes") && build.reproducible && !weakened,
    warnings,
  };
}

function describeLine({ depth, seldepth, score, moves: ucis }: EngineLine, position: Position): AnalysisLine {
  const { moves, san } = describeVariation(position, ucis, 0);
  return { depth, seldepth, score: scoreForWhite(score, position.turn), moves, san };
}

export function analysisFromResult(
  { endedBy, warnings, ...result }: SearchResult,
  request: ValidatedRequest,
  served: Pick<Analysis, "queueMs" | "cached">,
): Analysis {
  return {
    ...result,
    ...served,
    request,
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

/** Returns the moves to which the search is restricted; none if the request names all legal moves. */
export function restrictionOf({ position, searchMoves }: ValidatedRequest): readonly string[] {
  return searchMoves.length === position.legalMoveCount ? [] : searchMoves;
}

/**
 * Two requests have the same cache key if and only if depth and nodes alone define the same answer to both. Returns undefined
 * for a weakened engine, because it plays at random. The key leaves out the client's FEN text and options with their default.
 *
 * **The key does not contain `movetime_ms`.** Only results that depth or nodes ended are cached, and another movetime would not
 * change those. So a request with `movetime_ms: 50` may at once get an answer that once took seconds.
 *
 * **The key contains the SHA-256 of the build's file**, because answers outlive the process, and a file may be replaced.
 */
export function cacheKeyOf(request: ValidatedRequest): string | undefined {
  if (request.weakened) {
    return undefined;
  }
  const { position, build, depth, nodes, multipv, effectiveOptions } = request;
  const variant = position.chess960 ? "chess960" : "standard";
  const limits = `${depth ?? ""}|${nodes ?? ""}|${multipv}|${restrictionOf(request).join(" ")}`;
  return `${position.root}|${position.moves.join(" ")}|${variant}|${keyOfBuild(build)}|${limits}|${keyOfOptions(effectiveOptions)}`;
}

/** The key of a search in flight contains the movetime, because time may end the search. */
export function flightKeyOf(cacheKey: string, movetimeMs: number): string {
  return `${cacheKey}|${movetimeMs}`;
}

/** A search that is worth sharing takes an engine ten milliseconds, thirty times as long as asking another node. */
export function isWorthSharing(limits: DepthAndNodes): boolean {
  return isAtLeast(limits, 10, 10_000);
}

/** A search worth storing takes an engine a millisecond or two, thirty times as long as reading and writing its answer. */
export function isWorthStoring(limits: DepthAndNodes): boolean {
  return isAtLeast(limits, 6, 1000);
}

type DepthAndNodes = Pick<ValidatedRequest, "depth" | "nodes">;

/** Only the limits decide, not the load or the result, so that the store has all positions of a game or none. */
function isAtLeast({ depth, nodes }: DepthAndNodes, leastDepth: number, leastNodes: number): boolean {
  return (depth ?? leastDepth) >= leastDepth && (nodes ?? leastNodes) >= leastNodes;
}

function keyOfBuild({ id, path, sha256, settings, reproducible }: EngineBuild): string {
  // An engine may pass the self-test on one node and fail it on another; such nodes must not share answers.
  return `${id}|${path}|${sha256}|${settings.threads}|${settings.hashMb}${reproducible ? "" : "|irreproducible"}`;
}

function keyOfOptions(options: OptionValues): string {
  const names = Object.keys(options).toSorted();
  return names.map((name) => `${name}=${options[name]}`).join(" ");
}
