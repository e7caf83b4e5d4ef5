import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { KibitzError } from "../errors.ts";
import { problemFromError } from "../problem.ts";

type BatchAnswer = MessageInitShape<typeof AnalysisService.method.evaluateBatch.output>;
type Outcome<A> = A extends { readonly outcome?: infer O } ? O : never;
type ProblemInit = Extract<Outcome<BatchAnswer>, { readonly case: "problem" }>["value"];

/** An error as a part of an answer: a problem document in typed form. */
export function problemMessage(error: KibitzError, requestId: string): ProblemInit {
  const problem = problemFromError(error, requestId);
  return {
    type: problem.type,
    title: problem.title,
    status: problem.status,
    code: problem.code,
    detail: problem.detail,
    instance: problem.instance,
    requestId: problem.request_id,
    nextAction: problem.next_action,
    retryable: problem.retryable,
    ...(problem.retry_after_ms !== null && { retryAfterMs: Math.ceil(problem.retry_after_ms) }),
    errors: problem.errors.map(({ pointer, code, message, allowed }) => ({
      pointer,
      code,
      message,
      ...(allowed && { allowed: allowed as JsonObject }),
    })),
    ...(problem.suggested_request && { suggestedRequest: problem.suggested_request as JsonObject }),
    ...(problem.upgrade && { upgrade: { ...problem.upgrade } }),
  };
}
