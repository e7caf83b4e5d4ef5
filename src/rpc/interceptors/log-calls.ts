import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { errorFromUnknown } from "../../errors.ts";
import type { Log } from "../../log/log.ts";
import { accountKey } from "../account-key.ts";
import { callerKey } from "../caller-key.ts";
import { errorFromConnect } from "../error-from-connect.ts";

/** One line a call, when it has ended: who asked what through which door, how it ended and how long it took. */
export function logCalls(
  log: Log,
  showAddress: (address: string) => string | undefined,
  level: "info" | "debug" = "info",
): Interceptor {
  return (next) => async (request) => {
    const { contextValues } = request;
    const { requestId, door, traceparent } = contextValues.get(callerKey);
    const startedAt = performance.now();
    const addressOf = (address: string) => {
      const shown = showAddress(address);
      return shown === undefined ? {} : { address: shown };
    };
    const end = (code: string, err?: unknown) => {
      const ms = Math.round((performance.now() - startedAt) * 10) / 10;
      const method = request.method.name;
      const { key, address } = contextValues.get(accountKey);
      const asker = { ...(key && { key: key.id }), ...addressOf(address) };
      const fields = { requestId, door, method, ms, code, ...asker, ...spanOf(traceparent) };
      if (code === "internal") {
        log.error({ ...fields, err }, "call");
      } else {
        log[level](fields, "call");
      }
    };
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: watched(response.message, request, end) };
      }
      end("ok");
      return response;
    } catch (thrown) {
      end(codeOf(thrown, request.signal, request.method.input), thrown);
      throw thrown;
    }
  };
}

/** The call's span, by the names that log collectors look for. */
function spanOf(traceparent: string | undefined): { readonly trace_id?: string; readonly span_id?: string } {
  const [, trace_id, span_id] = traceparent?.split("-") ?? [];
  return trace_id === undefined || span_id === undefined ? {} : { trace_id, span_id };
}

/**
 * A caller that leaves ends its call with the reason of its signal, whatever that is: no failure of ours.
 * Connect's gRPC client resets its stream with INTERNAL_ERROR when its deadline has passed (connect-node 2.2.0).
 */
function codeOf(thrown: unknown, signal: AbortSignal, input: DescMessage): string {
  if (signal.aborted && thrown === signal.reason) {
    return thrown instanceof ConnectError && thrown.code === Code.DeadlineExceeded
      ? "deadline_exceeded"
      : "canceled";
  }
  if (!(thrown instanceof ConnectError)) {
    return errorFromUnknown(thrown).code;
  }
  return thrown.code === Code.Canceled ? "canceled" : errorFromConnect(thrown, input).code;
}

/** The messages of a stream, which ends where they are read: at the last one, at an error, or at a reader that leaves. */
async function* watched<T>(
  messages: AsyncIterable<T>,
  { signal, method }: { readonly signal: AbortSignal; readonly method: DescMethod },
  end: (code: string, err?: unknown) => void,
) {
  let code = "canceled";
  let err: unknown;
  let delivering = false;
  try {
    for await (const message of messages) {
      delivering = true;
      yield message;
      delivering = false;
    }
    code = "ok";
  } catch (thrown) {
    // What fails at the reader's (its HTTP/2 stream is gone, and the signal does not say so yet) is no failure of ours.
    if (!delivering || thrown === signal.reason) {
      code = codeOf(thrown, signal, method.input);
      err = thrown;
    }
    throw thrown;
  } finally {
    end(code, err);
  }
}
