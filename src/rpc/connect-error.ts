import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { errorKind } from "../errors/catalogue.ts";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { headersFromError } from "../errors/problem.ts";
import { contentOfError } from "./error-details.ts";

/**
 * An error for Connect, gRPC and gRPC-Web, with the same content as the problem document in typed details: ErrorInfo
 * always, QuotaFailure for limits, RetryInfo where waiting helps, BadRequest for faults, and the Problem itself. What
 * would make it longer than clients take is left out: first the Problem's faults, then the Problem, then faults, and
 * then the message says so.
 */
export function connectErrorFrom(thrown: unknown, requestId: string): ConnectError {
  if (thrown instanceof ConnectError && thrown.code !== Code.DeadlineExceeded) {
    return thrown;
  }
  const error = errorFromThrown(thrown);
  const code = codeFromString(errorKind(error.code).rpc) ?? Code.Internal;
  const { message, details } = contentOfError(error, requestId);
  return new ConnectError(
    message,
    code,
    new Headers(headersFromError(error).map(([name, value]): [string, string] => [name, value])),
    details,
    thrown,
  );
}

function errorFromThrown(thrown: unknown): KibitzError {
  // Connect itself counts the time of a call, and says no more than that it is over.
  return thrown instanceof ConnectError
    ? new KibitzError("deadline_exceeded", "The deadline of the call passed before the search ended.", {
        cause: thrown,
      })
    : errorFromUnknown(thrown);
}
