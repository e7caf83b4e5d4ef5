import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { errorFromUnknown } from "../../errors/errors.ts";
import { createCallLine } from "../../log/call-line.ts";
import type { Log } from "../../log/log.ts";
import { accountKey, callerKey } from "../context-keys.ts";
import { searchFactsOf } from "../convert.ts";
import { errorFromConnect } from "../error-from-connect.ts";

/** One line a call, when it has ended: who asked what through which door, how it ended, how long it took and what for. */
export function logCalls(
  log: Log,
  showAddress: (address: string) => string | undefined,
  level?: "info" | "debug",
): Interceptor {
  const write = createCallLine(log, showAddress, level);
  return (next) => async (request) => {
    const { contextValues } = request;
    const caller = contextValues.get(callerKey);
    const startedAt = performance.now();
    caller.ending.hasLine = true;
    const end = (code: string, answer?: unknown, err?: unknown) => {
      const { key, address } = contextValues.get(accountKey);
      const fields = {
        method: request.method.name,
        ...(key && { key: key.id }),
        ...searchFactsOf(answer),
        ...(code === "internal" && { err }),
      };
      write(caller, { code, startedAt, address, fields });
    };
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: watched(response.message, request, end) };
      }
      end("ok", response.message);
      return response;
    } catch (thrown) {
      end(codeOf(thrown, request.signal, request.method.input), undefined, thrown);
      throw thrown;
    }
  };
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
  end: (code: string, last: T | undefined, err?: unknown) => void,
) {
  let code = "canceled";
  let last: T | undefined;
  let err: unknown;
  let delivering = false;
  try {
    for await (const message of messages) {
      delivering = true;
      last = message;
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
    end(code, last, err);
  }
}
