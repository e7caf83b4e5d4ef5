import {
  type Analysis,
  analysisFromResult,
  resultFromEvent,
  type ValidatedRequest,
} from "../../src/analysis/analysis.ts";
import type { SearchEvent } from "../../src/engine/engine.ts";

export function analysisFromEvent(event: SearchEvent, request: ValidatedRequest, queueMs: number): Analysis {
  return analysisFromResult(resultFromEvent(event, request), request, { queueMs, cached: false });
}
