import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { errorFromUnknown, type KibitzError } from "../errors/errors.ts";
import { createCallLine } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import { accountKey, outcomeKey, requestKey } from "./context-keys.ts";
import { searchFactsOf } from "./convert.ts";

/** What an error of Connect's own means to the caller of a method with such requests. */
export type ExplainConnectError = (error: ConnectError, input: DescMessage) => KibitzError;

/** One line a call, when it has ended: who asked what through which door, how it ended, how long it took and what for. */
export function logCalls(
  log: Log,
  showAddress: (address: string) => string | undefined,
  explain: ExplainConnectError,
  level?: "info" | "debug",
): Interceptor {
  const write = createCallLine(log, showAddress, level);
  return (next) => async (request) => {
    const { contextValues } = request;
    const startedAt = performance.now();
    contextValues.get(outcomeKey).hasLine = true;
    const end = (code: string, answer?: unknown, err?: unknown) => {
      const { key, address } = contextValues.get(accountKey);
      const fields = {
        method: request.method.name,
        ...(key && { key: key.id }),
        ...searchFactsOf(answer),
        ...(code === "internal" && { err }),
      };
      write(contextValues.get(requestKey), { code, startedAt, address, fields });
    };
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: watched(response.message, request, explain, end) };
      }
      end("ok", response.message);
      return response;
    } catch (thrown) {
      end(codeOf(thrown, request, explain), undefined, thrown);
      throw thrown;
    }
  };
}

interface Asked {
  readonly signal: AbortSignal;
  readonly method: DescMethod;
}

/**
 * A caller that leaves ends its call with the reason of its signal, whatever that is: no failure of ours.
 * Connect's gRPC client resets its stream with INTERNAL_ERROR when its deadline has passed (connect-node 2.2.0).
 */
function codeOf(thrown: unknown, { signal, method }: Asked, explain: ExplainConnectError): string {
  if (signal.aborted && thrown === signal.reason) {
    return thrown instanceof ConnectError && thrown.code === Code.DeadlineExceeded
      ? "deadline_exceeded"
      : "canceled";
  }
  if (!(thrown instanceof ConnectError)) {
    return errorFromUnknown(thrown).code;
  }
  return thrown.code === Code.Canceled ? "canceled" : explain(thrown, method.input).code;
}

/** The messages of a stream, which ends where they are read: at the last one, at an error, or at a reader that leaves. */
async function* watched<T>(
  messages: AsyncIterable<T>,
  request: Asked,
  explain: ExplainConnectError,
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
    if (!delivering || thrown === request.signal.reason) {
      code = codeOf(thrown, request, explain);
      err = thrown;
    }
    throw thrown;
  } finally {
    end(code, last, err);
  }
}
