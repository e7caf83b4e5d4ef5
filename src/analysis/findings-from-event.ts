import { describeLine, describeMove, describeReply } from "../chess/notation.ts";
import type { Position } from "../chess/position.ts";
import { scoreForWhite } from "../chess/score.ts";
import type { EngineLine, SearchEvent } from "../engine/engine.ts";
import type { AnalysisLine, JudgedRequest, Warning } from "./analysis.ts";
import type { Findings } from "./findings.ts";

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
