import { create, type JsonObject } from "@bufbuild/protobuf";
import { type Problem, ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import type { KibitzError } from "../errors/errors.ts";
import { problemFromError } from "../errors/problem.ts";

/** The type of {@link problemMessage}, for what carries messages of many types. */
export const problemDesc = ProblemSchema;

/** A problem document in typed form: in an answer, or in the details of an RPC error. */
export function problemMessage(error: KibitzError, requestId: string): Problem {
  const problem = problemFromError(error, requestId);
  return create(ProblemSchema, {
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
    errors: problem.errors.map(({ pointer, code, message, allowed, ply, token, offset, line, column }) => ({
      pointer,
      code,
      message,
      ...(allowed && { allowed: allowed as JsonObject }),
      ...(ply !== null && { ply }),
      ...(token !== null && { token }),
      ...(offset !== null && { offset }),
      ...(line !== null && { line }),
      ...(column !== null && { column }),
    })),
    ...(problem.suggested_request && { suggestedRequest: problem.suggested_request as JsonObject }),
    ...(problem.upgrade && { upgrade: { ...problem.upgrade } }),
  });
}
