import type { Terminal } from "../chess/position.ts";
import { scoreOfTerminal } from "../chess/score.ts";
import type { Analysis, JudgedRequest } from "./analysis.ts";

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
