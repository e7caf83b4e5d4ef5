import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.ts";
import { errorFromUnknown, errorKind, KibitzError, type NextAction } from "../errors.ts";
import { headersFromError } from "../problem.ts";

/**
 * An error for Connect, gRPC and gRPC-Web, with the same content as the problem document in typed
 * details: ErrorInfo always, BadRequest for faults, QuotaFailure for limits, RetryInfo where waiting helps.
 */
export function connectErrorFrom(thrown: unknown, requestId: string): ConnectError {
  if (thrown instanceof ConnectError && thrown.code !== Code.DeadlineExceeded) {
    return thrown;
  }
  const error = errorFromThrown(thrown);
  const code = codeFromString(errorKind(error.code).rpc) ?? Code.Internal;
  return new ConnectError(
    error.message,
    code,
    new Headers(headersFromError(error).map(([name, value]): [string, string] => [name, value])),
    detailsFrom(error, requestId),
    error.cause,
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

type Details = NonNullable<ConstructorParameters<typeof ConnectError>[3]>;

function detailsFrom(error: KibitzError, requestId: string): Details {
  const details: Details = [
    {
      desc: ErrorInfoSchema,
      value: {
        reason: error.code.toUpperCase(),
        domain: "kibitz",
        metadata: { code: error.code, next_action: nextActionOf(error), request_id: requestId },
      },
    },
  ];
  if (error.faults.length > 0) {
    const fieldViolations = error.faults.map(({ pointer, code, message }) => ({
      field: fieldPathOf(pointer),
      reason: code.toUpperCase(),
      description: message,
    }));
    details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  }
  if (error.quota !== undefined) {
    const violations = [{ subject: error.quota, description: error.message }];
    details.push({ desc: QuotaFailureSchema, value: { violations } });
  }
  if (error.retryAfterMs !== undefined) {
    const seconds = Math.floor(error.retryAfterMs / 1000);
    const nanos = Math.round((error.retryAfterMs % 1000) * 1e6);
    details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(seconds), nanos } } });
  }
  return details;
}

/** An RPC error has no room for a suggested request: its faults say what to mend. */
function nextActionOf({ nextAction }: KibitzError): NextAction {
  return nextAction === "send_suggested_request" ? "fix_request" : nextAction;
}

/** `/moves/3` as google.rpc.BadRequest writes it: `moves[3]`. */
function fieldPathOf(pointer: string): string {
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(
      (path, token) => (/^\d+$/.test(token) ? `${path}[${token}]` : path ? `${path}.${token}` : token),
      "",
    );
}
