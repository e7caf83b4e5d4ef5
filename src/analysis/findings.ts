import { describeLine, describeMove, describeReply, type MoveDescription } from "../chess/notation.ts";
import type { Position } from "../chess/position.ts";
import { type Score, scoreForWhite } from "../chess/score.ts";
import type { EngineLine, SearchCounters, SearchDone, SearchEvent } from "../engine/engine.ts";
import type { Analysis, AnalysisLine, JudgedRequest, StopReason, Warning } from "./analysis.ts";

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
  /** Whether depth alone defines them: any search with the same key finds the same. */
  readonly deterministic: boolean;
  /** What to know about the search; what is to be known about a request stands with that. */
  readonly warnings: readonly Warning[];
}

/** What makes a search, and is equal in all requests that share it. */
export type Searched = Pick<JudgedRequest, "position" | "build" | "weakened">;

/** What an engine said, as callers read it: White's point of view, SAN beside UCI, and what to beware of. */
export function findingsFromEvent(event: SearchEvent, searched: Searched): Findings {
  const { position, build, weakened } = searched;
  const { snapshot } = event;
  const endedBy = event.kind === "done" ? event.endedBy : undefined;
  const lines = snapshot.lines.map((line) => describeEngineLine(line, position));
  const [first] = lines;
  const bestMove = event.kind === "done" ? event.bestMove : first?.moves[0];
  const best = bestMove === undefined ? undefined : describeMove(position, bestMove);
  if (first === undefined || best === undefined) {
    throw new Error(`${build.id} answered ${bestMove ?? "no move"}, which is not legal in ${position.fen}`);
  }
  const reply = event.kind === "done" ? event.ponder : first.moves[1];
  const warnings: Warning[] = [];
  if (!snapshot.complete) {
    warnings.push({
      code: "incomplete_iteration",
      message:
        "Time ran out before the first iteration was complete; the line is the last one that the engine printed.",
      field: "movetime_ms",
    });
  }
  if (event.kind === "done" && best.uci !== first.moves[0] && !weakened) {
    warnings.push({
      code: "best_move_beyond_lines",
      message: "Time ran out while the engine was changing its mind: the best move is newer than the lines.",
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
    deterministic: endedBy === "depth" && build.settings.threads === 1 && !weakened,
    warnings,
  };
}

function describeEngineLine({ depth, seldepth, score, moves }: EngineLine, position: Position): AnalysisLine {
  return { depth, seldepth, score: scoreForWhite(score, position.turn), ...describeLine(position, moves) };
}

/** How a caller came to the findings. */
export interface Served {
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
