import { describeMove, describeReply, describeVariation, type MoveDescription } from "../chess/moves.ts";
import { pliesMax } from "../chess/play-game.ts";
import type { Position, Terminal } from "../chess/position.ts";
import { type Score, scoreForWhite, scoreOfTerminal } from "../chess/score.ts";
import { hashMbFor } from "../engine/catalog.ts";
import type {
  EngineBuild,
  EngineLine,
  OptionValues,
  SearchCounters,
  SearchDone,
  SearchEvent,
} from "../engine/engine.ts";

/** A request as callers write it: nothing is judged yet but the ranges of numbers. */
export interface AnalysisRequest {
  readonly fen: string;
  readonly moves: readonly string[];
  /** Plies. */
  readonly depth: number | undefined;
  /** Positions to visit. */
  readonly nodes: number | undefined;
  readonly multipv: number | undefined;
  readonly movetimeMs: number | undefined;
  /** The only moves to search, UCI or SAN; empty for all. */
  readonly searchMoves: readonly string[];
  /** An engine id or `latest`. */
  readonly engine: string;
  readonly path: "auto" | "wasm" | "native";
  /** By JSON name. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A request that can be run: `judgeRequest` makes it. */
export interface JudgedRequest {
  readonly position: Position;
  /** Number of moves that the caller sent. Playing them is work, also if the request is refused afterwards. */
  readonly movesPlayed: number;
  readonly build: EngineBuild;
  /** Plies; undefined where depth is no limit. */
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly multipv: number;
  readonly movetimeMs: number | undefined;
  /** UCI, as `readSearchMoves` writes them; empty where the request names none. */
  readonly searchMoves: readonly string[];
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
  /** Positions to visit. */
  nodes: { minimum: 1, maximum: 1_000_000_000 },
  /** Principal variations. */
  multipv: { minimum: 1, maximum: 10, default: 1 },
  /** Milliseconds. */
  movetimeMs: { minimum: 50, maximum: 60_000 },
  reviewPlies: { minimum: 1, maximum: pliesMax },
} as const;

/** Most requests in a batch. */
export const batchItemsMax: number = 200;

/** The depth that limits a search, in plies: undefined where nodes alone are to limit it. */
export function depthLimitOf({ depth, nodes }: Pick<AnalysisRequest, "depth" | "nodes">): number | undefined {
  return depth ?? (nodes === undefined ? requestBounds.depth.default : undefined);
}

/** Something that the caller should know. The answer is still right. */
export interface Warning {
  readonly code: string;
  readonly message: string;
  /** The request field that it is about. */
  readonly field: string | undefined;
}

/** Why a search ended. */
export type StopReason = "depth" | "nodes" | "movetime" | "server_limit" | "terminal";

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
  /** Whether depth and nodes alone define the answer: the same request has it again on any instance with the same build. */
  readonly deterministic: boolean;
  /** Whether the search was stopped before any of its limits, because the server is. */
  readonly cutShort: boolean;
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
    cutShort: false,
    cached: false,
    warnings: request.warnings,
  };
}

/**
 * What a search has found: the same for every caller of an equal search, so it is shared and kept. Plain
 * data, so that a store may write it as JSON. All scores are from White's point of view.
 */
export interface Findings {
  readonly score: Score;
  readonly best: MoveDescription;
  readonly ponder: MoveDescription | undefined;
  /** Best first, at least one. */
  readonly lines: readonly AnalysisLine[];
  readonly depth: number;
  readonly seldepth: number;
  /** Of the search that was run. */
  readonly counters: SearchCounters;
  /** Undefined while the search goes on. */
  readonly endedBy: SearchDone["endedBy"] | undefined;
  /** Whether depth and nodes alone define them: any search with the same key finds the same. */
  readonly deterministic: boolean;
  /** What to know about the search; what is to be known about a request stands with that. */
  readonly warnings: readonly Warning[];
}

/** What makes a search, and is equal in all requests that share it. */
type Searched = Pick<JudgedRequest, "position" | "build" | "weakened">;

/** What an engine said, as callers read it: White's point of view, SAN beside UCI, and what to beware of. */
export function findingsFromEvent(event: SearchEvent, searched: Searched): Findings {
  const { position, build, weakened } = searched;
  const { snapshot } = event;
  const endedBy = event.kind === "done" ? event.endedBy : undefined;
  const described = snapshot.lines.map((line, index) =>
    describeEngineLine(line, position, index === 0 ? 2 : 0),
  );
  const lines = described.map(({ line }) => line);
  const [first] = lines;
  const [firstMove, secondMove] = described[0]?.first ?? [];
  const bestMove = event.kind === "done" ? event.bestMove : firstMove?.uci;
  // Nearly always it is the first line's move, and the reply its second.
  const isOfLine = bestMove !== undefined && bestMove === firstMove?.uci;
  const best = isOfLine ? firstMove : bestMove === undefined ? undefined : describeMove(position, bestMove);
  if (first === undefined || best === undefined) {
    throw new Error(`${build.id} answered ${bestMove ?? "no move"}, which is not legal in ${position.fen}`);
  }
  const replyMove = event.kind === "done" ? event.ponder : secondMove?.uci;
  const reply =
    isOfLine && replyMove === secondMove?.uci
      ? secondMove
      : replyMove === undefined
        ? undefined
        : describeReply(position, best.uci, replyMove);
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
    ponder: reply,
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

/** @param inFull how many of its moves are described in full, too */
function describeEngineLine(
  { depth, seldepth, score, moves: ucis }: EngineLine,
  position: Position,
  inFull: number,
) {
  const { moves, san, first } = describeVariation(position, ucis, inFull);
  const line: AnalysisLine = { depth, seldepth, score: scoreForWhite(score, position.turn), moves, san };
  return { line, first };
}

/** How a caller came to the findings. */
interface Served {
  /** Milliseconds that this caller waited for an engine; 0 if none was asked. */
  readonly queueMs: number;
  /** Whether the findings are those of a search that had ended before this caller asked. */
  readonly cached: boolean;
}

/** What a search has found, as the answer to one request. */
export function analysisFromFindings(findings: Findings, request: JudgedRequest, served: Served): Analysis {
  return {
    request,
    score: findings.score,
    best: findings.best,
    ponder: findings.ponder,
    lines: findings.lines,
    depth: findings.depth,
    seldepth: findings.seldepth,
    counters: findings.counters,
    queueMs: served.queueMs,
    stopReason: stopReasonOf(findings.endedBy, request),
    deterministic: findings.deterministic,
    cutShort: findings.endedBy === "stop",
    cached: served.cached,
    warnings: findings.warnings.length === 0 ? request.warnings : [...request.warnings, ...findings.warnings],
  };
}

function stopReasonOf(endedBy: Findings["endedBy"], { movetimeMs }: JudgedRequest): StopReason | undefined {
  switch (endedBy) {
    case "time":
      return movetimeMs === undefined ? "server_limit" : "movetime";
    case "stop":
      return "server_limit";
    default:
      return endedBy;
  }
}

/** The moves that an engine is told to search: none where they are all that there are, which is no restriction. */
export function restrictionOf({ position, searchMoves }: JudgedRequest): readonly string[] {
  return searchMoves.length === position.legalMoveCount ? [] : searchMoves;
}

/**
 * Names the search of a request: two requests have the same key exactly if depth and nodes alone define the same answer
 * to both. Undefined for a weakened engine, which plays with dice: no two of its answers are the same.
 *
 * In the key are the normal six-field FEN that the history starts from, the moves, the variant, the build, threads, the
 * hash table of the search, depth, nodes, lines, the moves that are searched, and the options that are in effect. The
 * caller's FEN text and options that say what is so anyway are not.
 *
 * **`movetime_ms` is not in it**, on purpose. Kept are only findings that the asked depth or nodes have ended, and those
 * a longer or shorter movetime would not change: the contract defines a deterministic answer without the clock.
 * So a request with `movetime_ms: 50` may be given an answer that once took seconds: better than its own search
 * would have been, and at once. `flightKeyOf` is for searches that have yet to end, where it matters.
 *
 * **The SHA-256 of the build's file is in it**, and not the file's name: answers are kept beyond the process, and what is
 * one file today may be another tomorrow.
 *
 * @param sha256 of the build
 */
export function cacheKeyOf(request: JudgedRequest, sha256: string): string | undefined {
  if (request.weakened) {
    return undefined;
  }
  const { position, build, depth, nodes, multipv, effectiveOptions } = request;
  const variant = position.chess960 ? "chess960" : "standard";
  const moves = position.moves.length === 0 ? "" : position.moves.join(" ");
  const hashMb = hashMbFor(build, request);
  const limits = `${hashMb}|${depth ?? ""}|${nodes ?? ""}|${multipv}|${restrictionOf(request).join(" ")}`;
  return `${position.root}|${moves}|${variant}|${keyOfBuild(build, sha256)}|${limits}|${keyOfOptions(effectiveOptions)}`;
}

/** Names a search under way: `cacheKeyOf`, and when time ends it, since nobody knows yet what will. */
export function flightKeyOf(cacheKey: string, movetimeMs: number): string {
  return `${cacheKey}|${movetimeMs}`;
}

/** The least that is worth asking other nodes about, in plies and in positions: either takes an engine some ten milliseconds. */
const leastShared = { depth: 10, nodes: 10_000 } as const;

/**
 * Whether a search is shared with other nodes, while it runs and when it has ended: one that takes an engine thirty times as long as it
 * takes to ask for it over a network. Like {@link isWorthStoring}, the limits alone decide.
 */
export function isWorthSharing({ depth, nodes }: Pick<JudgedRequest, "depth" | "nodes">): boolean {
  return (
    (depth ?? Number.POSITIVE_INFINITY) >= leastShared.depth &&
    (nodes ?? leastShared.nodes) >= leastShared.nodes
  );
}

/** The least that is worth a row, in plies and in positions: either takes an engine a millisecond or two. */
const leastStored = { depth: 6, nodes: 1000 } as const;

/**
 * Whether an answer is kept beyond the process: one that takes an engine thirty times as long as it takes this process to
 * keep it, and to find that it is not there. The limits of the request say that, and neither load nor what was found: of one
 * game, all positions are kept or none.
 */
export function isWorthStoring({ depth, nodes }: Pick<JudgedRequest, "depth" | "nodes">): boolean {
  return (
    (depth ?? Number.POSITIVE_INFINITY) >= leastStored.depth &&
    (nodes ?? leastStored.nodes) >= leastStored.nodes
  );
}

function keyOfBuild({ id, path, settings, reproducible }: EngineBuild, sha256: string): string {
  // An engine can pass the self-test on one node and fail it on another, which must not get the answers of the first.
  return `${id}|${path}|${sha256}|${settings.threads}${reproducible ? "" : "|irreproducible"}`;
}

function keyOfOptions(options: OptionValues): string {
  const names = Object.keys(options);
  return names.length === 0
    ? ""
    : names
        .toSorted()
        .map((name) => `${name}=${options[name]}`)
        .join(" ");
}
