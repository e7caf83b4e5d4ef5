import type { Message } from "@bufbuild/protobuf";
import type { Span } from "@opentelemetry/api";
import { beginSpan, withSpan } from "../tracing/spans.ts";
import type { Handler } from "./call.ts";

/** Each call of an MCP request gets its own child span, because the request may contain several calls. */
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

/** Activates the span while a message is read, because a handler runs only while a message is read. */
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
