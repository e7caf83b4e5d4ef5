import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { FaultSchema, type Problem, ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** Why a call was not answered. */
export type Failure =
  /** The service says what is wrong. */
  | { readonly kind: "problem"; readonly problem: Problem }
  /** The page aborted the call. */
  | { readonly kind: "aborted" }
  /** No answer came, or the connection broke before the answer was whole. */
  | { readonly kind: "lost" }
  /** The answer came from something other than the service, such as a proxy in front of it. */
  | { readonly kind: "foreign"; readonly said: string };

/** Returns the failure of a call from the error that it threw. */
export function failureOf(error: unknown): Failure {
  const problem = problemOf(error);
  if (problem) {
    return { kind: "problem", problem };
  }
  const { code, cause, rawMessage } = ConnectError.from(error);
  if (code === Code.Canceled) {
    return { kind: "aborted" };
  }
  // The client makes an error without a cause of an HTTP status; of a proxy, 502 to 504 become `unavailable`.
  return cause !== undefined || code === Code.Unavailable
    ? { kind: "lost" }
    : { kind: "foreign", said: rawMessage };
}

/** Returns the service's error document; undefined if there is none, for example if the service cannot be reached. */
export function problemOf(error: unknown): Problem | undefined {
  const thrown = ConnectError.from(error);
  const [problem] = thrown.findDetails(ProblemSchema);
  if (problem === undefined || problem.errors.length > 0) {
    return problem;
  }
  // Details that have room for the violations only once have them here.
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
