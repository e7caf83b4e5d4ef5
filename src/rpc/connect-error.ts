import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { errorFromUnknown, errorKind, type KibitzError } from "../errors.ts";
import { headersFromError } from "../problem.ts";

/**
 * An error for Connect, gRPC and gRPC-Web, with the same content as the problem document in typed
 * details: ErrorInfo always, BadRequest for faults, RetryInfo where waiting helps.
 */
export function connectErrorFrom(thrown: unknown, requestId: string): ConnectError {
  if (thrown instanceof ConnectError) {
    return thrown;
  }
  const error = errorFromUnknown(thrown);
  const code = codeFromString(errorKind(error.code).rpc) ?? Code.Internal;
  return new ConnectError(
    error.message,
    code,
    new Headers([
      ["X-Request-Id", requestId],
      ...headersFromError(error).map(([name, value]): [string, string] => [name, value]),
    ]),
    detailsFrom(error, requestId),
    error.cause,
  );
}

type Details = NonNullable<ConstructorParameters<typeof ConnectError>[3]>;

function detailsFrom(error: KibitzError, requestId: string): Details {
  const details: Details = [
    {
      desc: ErrorInfoSchema,
      value: {
        reason: error.code.toUpperCase(),
        domain: "kibitz",
        metadata: { code: error.code, next_action: error.nextAction, request_id: requestId },
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
  if (error.retryAfterMs !== undefined) {
    const seconds = Math.floor(error.retryAfterMs / 1000);
    const nanos = Math.round((error.retryAfterMs % 1000) * 1e6);
    details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(seconds), nanos } } });
  }
  return details;
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
