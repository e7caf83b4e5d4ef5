import type { Interceptor } from "@connectrpc/connect";
import { connectErrorFrom } from "../connect-error.ts";
import { callerKey, responseHeaderKey } from "../context-keys.ts";

/**
 * What only Connect's own doors need, outermost: errors of the catalogue become Connect errors, and the
 * headers that interceptors left with the caller go into the answer. The gateway does both by itself.
 */
export function connectDoors(): Interceptor {
  return (next) => async (request) => {
    const caller = request.contextValues.get(callerKey);
    const header = request.contextValues.get(responseHeaderKey);
    const tell = () => {
      for (const [name, value] of caller.answerHeaders) {
        header?.set(name, value);
      }
    };
    const explain = (thrown: unknown) => {
      tell();
      return connectErrorFrom(thrown, caller.requestId);
    };
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: told(response.message, tell, explain) };
      }
      tell();
      return response;
    } catch (thrown) {
      throw explain(thrown);
    }
  };
}

/** A stream is begun and fails where its messages are read. Connect sends the headers with the first (connect 2.2.0). */
async function* told<T>(messages: AsyncIterable<T>, tell: () => void, explain: (thrown: unknown) => Error) {
  try {
    for await (const message of messages) {
      tell();
      yield message;
    }
  } catch (thrown) {
    throw explain(thrown);
  }
}
