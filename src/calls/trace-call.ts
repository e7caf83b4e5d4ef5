import type { Message } from "@bufbuild/protobuf";
import type { Span } from "@opentelemetry/api";
import { beginSpan, withSpan } from "../tracing/spans.ts";
import type { Handler } from "./call.ts";

/**
 * Middleware that runs a call in the span of its request. The body of a request arrives in events of the connection, in which no
 * span is active. One request of an agent may make several calls, so each call gets its own span below the span of the request,
 * and the log line of the call ends it.
 */
export function inOwnSpan(handler: Handler): Handler {
  return (request, call) => {
    const own = call.request.span?.span;
    if (own === undefined) {
      return handler(request, call);
    }
    const isAgent = call.request.protocol === "mcp";
    const span = isAgent ? withSpan(own, () => beginSpan(call.method.name)) : own;
    return inSpan(span, handler(request, call));
  };
}

/** Enters the span for each message, because the work on an answer is done while the answer is read. */
function inSpan(span: Span | undefined, messages: AsyncIterable<Message>): AsyncIterable<Message> {
  return {
    [Symbol.asyncIterator]() {
      const reading = messages[Symbol.asyncIterator]();
      return {
        next: () => withSpan(span, () => reading.next()),
        return: async (value) =>
          (await withSpan(span, () => reading.return?.(value))) ?? { done: true, value },
      };
    },
  };
}
