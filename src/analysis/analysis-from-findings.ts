import type { Analysis, JudgedRequest, StopReason } from "./analysis.ts";
import type { Findings } from "./findings.ts";

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
