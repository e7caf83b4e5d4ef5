import type { Message } from "@bufbuild/protobuf";
import type { Span } from "@opentelemetry/api";
import { beginSpan, withSpan } from "../tracing/spans.ts";
import type { Handler } from "./call.ts";

/**
 * Runs a call in the span of its request, which is not active in the connection's events. An agent's request may make several
 * calls, so each gets its own span below it.
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

/** Enters the span for each message, because the work is done while the answer is read. */
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
