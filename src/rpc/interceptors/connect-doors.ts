import type { Interceptor } from "@connectrpc/connect";
import { callerKey } from "../caller-key.ts";
import { connectErrorFrom } from "../connect-error.ts";

/**
 * What only Connect's own doors need, outermost: errors of the catalogue become Connect errors, and the
 * headers that interceptors left with the caller go into the answer. The gateway does both by itself.
 */
export function connectDoors(): Interceptor {
  return (next) => async (request) => {
    const caller = request.contextValues.get(callerKey);
    const explain = (thrown: unknown) => connectErrorFrom(thrown, caller.requestId);
    try {
      const response = await next(request);
      for (const [name, value] of caller.answerHeaders) {
        response.header.set(name, value);
      }
      return response.stream ? { ...response, message: explained(response.message, explain) } : response;
    } catch (thrown) {
      throw explain(thrown);
    }
  };
}

/** A stream fails where its messages are read, after the call has been answered. */
async function* explained<T>(messages: AsyncIterable<T>, explain: (thrown: unknown) => Error) {
  try {
    yield* messages;
  } catch (thrown) {
    throw explain(thrown);
  }
}
