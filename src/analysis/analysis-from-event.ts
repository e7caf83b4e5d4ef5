import { describeLine, describeMove, describeReply } from "../chess/notation.ts";
import { type Score, scoreForWhite } from "../chess/score.ts";
import type { EngineLine, SearchEvent } from "../engine/engine.ts";
import type { Analysis, AnalysisLine, JudgedRequest, StopReason, Warning } from "./analysis.ts";

/** What an engine said, as callers read it: White's point of view, SAN beside UCI, and what to beware of. */
export function analysisFromEvent(event: SearchEvent, request: JudgedRequest, queueMs: number): Analysis {
  const { position, weakened } = request;
  const { snapshot } = event;
  const lines = snapshot.lines.map((line) => describeEngineLine(line, request));
  const [first] = lines;
  const bestMove = event.kind === "done" ? event.bestMove : first?.moves[0];
  const best = bestMove === undefined ? undefined : describeMove(position, bestMove);
  if (first === undefined || best === undefined) {
    throw new Error(
      `${request.build.id} answered ${bestMove ?? "no move"}, which is not legal in ${position.fen}`,
    );
  }
  const reply = event.kind === "done" ? event.ponder : first.moves[1];
  const warnings: Warning[] = [...request.warnings];
  if (!snapshot.complete) {
    warnings.push({
      code: "incomplete_iteration",
      message:
        "Time ended the search before its first iteration was complete; the line is as the engine last printed it.",
      field: "movetime_ms",
    });
  }
  if (event.kind === "done" && best.uci !== first.moves[0] && !weakened) {
    warnings.push({
      code: "best_move_beyond_lines",
      message:
        "Time ended the search while the engine was changing its mind: the best move is newer than the lines.",
      field: undefined,
    });
  }
  return {
    request,
    score: first.score,
    best,
    ponder: reply === undefined ? undefined : describeReply(position, best.uci, reply),
    lines,
    depth: snapshot.depth,
    seldepth: first.seldepth,
    counters: snapshot.counters,
    queueMs,
    stopReason: event.kind === "done" ? stopReasonOf(event.endedBy, request) : undefined,
    deterministic:
      event.kind === "done" && event.endedBy === "depth" && request.build.settings.threads === 1 && !weakened,
    warnings,
  };
}

function describeEngineLine(
  { depth, seldepth, score, moves }: EngineLine,
  request: JudgedRequest,
): AnalysisLine {
  const forWhite: Score = scoreForWhite(score, request.position.turn);
  return { depth, seldepth, score: forWhite, ...describeLine(request.position, moves) };
}

function stopReasonOf(endedBy: "depth" | "time", { movetimeMs }: JudgedRequest): StopReason {
  if (endedBy === "depth") {
    return "depth";
  }
  return movetimeMs === undefined ? "server_limit" : "movetime";
}
