import {
  type Analysis,
  analysisFromFindings,
  findingsFromEvent,
  type ValidatedRequest,
} from "../../src/analysis/analysis.ts";
import type { SearchEvent } from "../../src/engine/engine.ts";

/** The answer to the one request of a search. */
export function analysisFromEvent(event: SearchEvent, request: ValidatedRequest, queueMs: number): Analysis {
  return analysisFromFindings(findingsFromEvent(event, request), request, { queueMs, cached: false });
}
