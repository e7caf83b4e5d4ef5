import type { DescMethod } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";

/** The greatest request that a method takes, before and after inflation, whatever the door. */
export function readMaxBytesOf(method: DescMethod): number {
  return method === AnalysisService.method.evaluateBatch ? batchMaxBytes : requestMaxBytes;
}

const requestMaxBytes = 64 * 1024;

/** 200 requests of 5 KiB, which is a long game each. */
const batchMaxBytes = 1024 * 1024;
