import { create, fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { type Problem, ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import type { KibitzError } from "../errors/errors.ts";
import { problemFromError } from "../errors/problem.ts";

/** Never throws: if protobuf cannot contain a value of the error, the message has no suggested request and no violations. */
export function problemMessage(error: KibitzError, requestId: string): Problem {
  const problem = problemFromError(error, requestId);
  const retryAfterMs = problem.retry_after_ms;
  const whole = { ...problem, retry_after_ms: retryAfterMs === null ? null : Math.ceil(retryAfterMs) };
  try {
    return messageOf(whole);
  } catch {
    const { next_action } = whole;
    return messageOf({
      ...whole,
      errors: [],
      suggested_request: null,
      next_action: next_action === "send_suggested_request" ? "fix_request" : next_action,
    });
  }
}

/** Returns the problem as a detail of an RPC error. */
export function detailFromProblem(problem: MessageInitShape<typeof ProblemSchema>) {
  return { desc: ProblemSchema, value: create(ProblemSchema, problem) };
}

function messageOf(problem: ReturnType<typeof problemFromError>): Problem {
  return fromJson(ProblemSchema, problem as unknown as JsonObject);
}
