import type { DescMethod } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";

const { evaluate, findBestMove, streamEvaluate, evaluateBatch } = AnalysisService.method;
const counted: ReadonlySet<DescMethod> = new Set<DescMethod>([
  evaluate,
  findBestMove,
  streamEvaluate,
  evaluateBatch,
]);

/** Calls whose requests are lists of requests. */
export const batchMethods: readonly DescMethod[] = [evaluateBatch];

/** Whether calls of a method count: the analyses do, and what tells of the service does not. */
export function isCounted(method: DescMethod): boolean {
  return counted.has(method);
}
