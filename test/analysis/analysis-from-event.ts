import {
  type Analysis,
  analysisFromFindings,
  findingsFromEvent,
  type ValidatedRequest,
} from "../../src/analysis/analysis.ts";
import type { SearchEvent } from "../../src/engine/engine.ts";

/** What an engine said, as the answer to the one request that it was asked for. */
export function analysisFromEvent(event: SearchEvent, request: ValidatedRequest, queueMs: number): Analysis {
  return analysisFromFindings(findingsFromEvent(event, request), request, { queueMs, cached: false });
}
