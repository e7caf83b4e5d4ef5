import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { KibitzError } from "../errors/errors.ts";
import { connectErrorFrom } from "./connect-error.ts";
import { callerKey } from "./context-keys.ts";
import { errorFromConnect } from "./error-from-connect.ts";

/** What Connect's handlers have beside what they show; `abort` is told every error before it is written. */
type AbortableContext = HandlerContext & { abort(reason?: unknown): void };

/**
 * Gives the errors that Connect makes itself, before and behind all interceptors, the details that every error
 * has. Of the four protocols none can say afterwards what its error was, but each aborts the call with the
 * error before it writes it (connect 2.2.0): that is where it can be completed. Its signal would not do: once the
 * deadline has passed, that keeps this reason, and what is written is another one.
 */
export function completeErrors(context: HandlerContext, count: CountRefusal): void {
  const { values, method } = context;
  const { requestId, ending } = values.get(callerKey);
  const abortable = context as AbortableContext;
  const { abort } = abortable;
  abortable.abort = (reason) => {
    const known = complete(reason, method.input, requestId);
    if (known) {
      ending.code ??= known.code;
      count(known, context);
    }
    abort(reason);
  };
}

/** Counts what a call was refused for before it came to the service. */
export type CountRefusal = (error: KibitzError, context: HandlerContext) => void;

/** Gives what the error means, where it had to be completed. */
function complete(error: unknown, input: DescMessage, requestId: string): KibitzError | undefined {
  // Nobody waits for the answer to a call that was cancelled.
  if (!(error instanceof ConnectError) || error.code === Code.Canceled || hasErrorInfo(error)) {
    return undefined;
  }
  const known = errorFromConnect(error, input);
  const { code, rawMessage, message, details } = connectErrorFrom(known, requestId);
  Object.assign(error, { rawMessage, message, details: [...error.details, ...details] });
  // The protocols say which code an error of theirs has; bytes that are no message are not the server's failure.
  if (error.code === Code.Internal) {
    Object.assign(error, { code });
  }
  return known;
}

function hasErrorInfo({ details }: ConnectError): boolean {
  return details.some((detail) => "desc" in detail && detail.desc.typeName === ErrorInfoSchema.typeName);
}
