import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { type Problem, ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import type { KibitzError } from "../errors/errors.ts";
import { problemFromError } from "../errors/problem.ts";

export const problemDesc = ProblemSchema;

export function problemMessage(error: KibitzError, requestId: string): Problem {
  const problem = problemFromError(error, requestId);
  const retryAfterMs = problem.retry_after_ms;
  const whole = { ...problem, retry_after_ms: retryAfterMs === null ? null : Math.ceil(retryAfterMs) };
  return fromJson(ProblemSchema, whole as unknown as JsonObject);
}
