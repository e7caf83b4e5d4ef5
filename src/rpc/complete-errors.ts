import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { callerKey } from "./caller-key.ts";
import { connectErrorFrom } from "./connect-error.ts";
import { errorFromConnect } from "./error-from-connect.ts";

/**
 * Gives the errors that Connect makes itself, before and behind all interceptors, the details that every error
 * has. Of the four protocols none can say afterwards what its error was, but each aborts the call with the
 * error before it writes it (connect 2.2.0): that is where it can be completed.
 */
export function completeErrors({ signal, values, method }: HandlerContext): void {
  const { requestId } = values.get(callerKey);
  const complete = () => {
    const error: unknown = signal.reason;
    // Nobody waits for the answer to a call that was cancelled.
    if (!(error instanceof ConnectError) || error.code === Code.Canceled || hasErrorInfo(error)) {
      return;
    }
    const { code, rawMessage, message, details } = connectErrorFrom(
      errorFromConnect(error, method.input),
      requestId,
    );
    Object.assign(error, { rawMessage, message, details: [...error.details, ...details] });
    // The protocols say which code an error of theirs has; bytes that are no message are not the server's failure.
    if (error.code === Code.Internal) {
      Object.assign(error, { code });
    }
  };
  if (signal.aborted) {
    complete();
  } else {
    signal.addEventListener("abort", complete, { once: true });
  }
}

function hasErrorInfo({ details }: ConnectError): boolean {
  return details.some((detail) => "desc" in detail && detail.desc.typeName === ErrorInfoSchema.typeName);
}
