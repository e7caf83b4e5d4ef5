import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { connectErrorFrom } from "../connect-error.ts";
import { callerKey, decodedKey, responseHeaderKey } from "../context-keys.ts";

/**
 * What only Connect's own doors need, outermost: errors of the catalogue become Connect errors, and the
 * headers that interceptors left with the caller go into the answer. The gateway does both by itself.
 */
export function connectDoors(): Interceptor {
  return (next) => async (sent) => {
    const request = withDecoded(sent);
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

/** The request with the message that was decoded before Connect could, as `decode-batch` does. */
function withDecoded(request: UnaryRequest | StreamRequest): UnaryRequest | StreamRequest {
  if (!request.stream) {
    return request;
  }
  const { message: messages, contextValues } = request;
  const message = (async function* () {
    // What stands in its stead is read, too: with it comes what is wrong with the call.
    for await (const one of messages) {
      yield contextValues.get(decodedKey) ?? one;
    }
  })();
  return { ...request, message };
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
