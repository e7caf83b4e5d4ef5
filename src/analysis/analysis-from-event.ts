import type { SearchEvent } from "../engine/engine.ts";
import type { Analysis, JudgedRequest } from "./analysis.ts";
import { analysisFromFindings } from "./analysis-from-findings.ts";
import { findingsFromEvent } from "./findings-from-event.ts";

/** What an engine said, as the answer to the one request that it was asked for. */
export function analysisFromEvent(event: SearchEvent, request: JudgedRequest, queueMs: number): Analysis {
  return analysisFromFindings(findingsFromEvent(event, request), request, { queueMs, cached: false });
}
