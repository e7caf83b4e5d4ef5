import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { FaultSchema, type Problem, ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";

type Failure =
  | { readonly kind: "problem"; readonly problem: Problem }
  | { readonly kind: "aborted" }
  /** No response arrived, or the connection broke during the response. */
  | { readonly kind: "lost" }
  /** Another program responded, such as a proxy in front of the service. */
  | { readonly kind: "foreign"; readonly said: string };

export function failureOf(error: unknown): Failure {
  const problem = problemOf(error);
  if (problem) {
    return { kind: "problem", problem };
  }
  const { code, cause, rawMessage } = ConnectError.from(error);
  if (code === Code.Canceled) {
    return { kind: "aborted" };
  }
  // Connect also reports `unavailable` for the statuses 502 to 504 of a proxy.
  return cause !== undefined || code === Code.Unavailable
    ? { kind: "lost" }
    : { kind: "foreign", said: rawMessage };
}

/** Returns undefined if the error has no error document, for example if the service cannot be reached. */
export function problemOf(error: unknown): Problem | undefined {
  const thrown = ConnectError.from(error);
  const [problem] = thrown.findDetails(ProblemSchema);
  if (problem === undefined || problem.errors.length > 0) {
    return problem;
  }
  // If the error document has no violations, the violations are in the `BadRequest` detail.
  const [badRequest] = thrown.findDetails(BadRequestSchema);
  const errors = (badRequest?.fieldViolations ?? []).map(({ field, reason, description }) =>
    create(FaultSchema, {
      pointer: `/${field.replace(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`,
      code: reason.toLowerCase(),
      message: description,
    }),
  );
  return { ...problem, errors };
}
