import { createHash } from "node:crypto";
import { type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";
import type { Span } from "@opentelemetry/api";
import type { Access } from "../access/access.ts";
import { countError, reportWindows } from "../access/admit-call.ts";
import type { Limits } from "../access/limits.ts";
import { hasRateLimitHeaders } from "../access/rate-limit-fields.ts";
import { errorFromUnknown, KibitzError, refuseViolations } from "../errors/errors.ts";
import { ClientDisconnected } from "../request/context.ts";
import { now } from "../time/time.ts";
import { beginSpan, withSpan } from "../tracing/spans.ts";
import type { Call, Handler } from "./call.ts";
import { repeatablePart, searchFactsOf } from "./convert.ts";
import { createRequestWriter } from "./plain/write-message.ts";
import { batchMethods, isCounted, requestMaxBytes } from "./policy.ts";
import type { ReportCall } from "./report-call.ts";
import { checkRules } from "./rules.ts";
import { createSuggest, type ValidateMessage } from "./suggest.ts";

export type Middleware = (handler: Handler, method: DescMethod) => Handler;

/** The outermost middleware is first. Callers are authenticated earlier, before the body is read. */
export function apiMiddleware(
  { limits }: Pick<Access, "limits">,
  validate: ValidateMessage,
  reportCall: ReportCall,
): readonly Middleware[] {
  return [
    inOwnSpan,
    withReport(reportCall),
    withSuggestions(validate),
    withLimits(limits),
    withRules(),
    withEtag(),
  ];
}

/** Each call of an MCP request gets its own child span, because the request may contain several calls. */
function inOwnSpan(handler: Handler): Handler {
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

export function withReport(reportCall: ReportCall): Middleware {
  return around(async function* (messages, _, call) {
    const { method, request, outcome, account } = call;
    const startedAt = now();
    let last: Message | undefined;
    // If the client disconnects, this generator neither ends normally nor gets an error.
    let end: { readonly code: string; readonly thrown?: unknown } = { code: "canceled" };
    let isDelivering = false;
    outcome.hasLine = true;
    try {
      for await (const message of messages()) {
        last = message;
        isDelivering = true;
        yield message;
        isDelivering = false;
      }
      end = { code: "ok" };
    } catch (thrown) {
      const error = withReason(thrown, call);
      // An error during delivery means that the client has disconnected.
      if (!isDelivering) {
        end = { code: codeOf(error, call), thrown };
        outcome.code ??= end.code;
      }
      throw error;
    } finally {
      const fields = {
        ...searchFactsOf(last),
        method: method.name,
        key: account.key?.id,
        limit: "thrown" in end ? outcome.limit : undefined,
        err: end.code === "internal" ? end.thrown : undefined,
      };
      reportCall(request, { code: end.code, startedAt, address: account.address, fields });
    }
  });
}

/** Replaces the AbortError of Node's timers and events by the abort reason of the call. */
function withReason(thrown: unknown, { signal }: Call): unknown {
  return signal.aborted && thrown instanceof Error && thrown.name === "AbortError" ? signal.reason : thrown;
}

function codeOf(error: unknown, { signal }: Call): string {
  const isOver = signal.aborted && error === signal.reason;
  const isDisconnected = error instanceof ClientDisconnected || (isOver && !(error instanceof KibitzError));
  return isDisconnected ? "canceled" : errorFromUnknown(error).code;
}

export function withSuggestions(validate: ValidateMessage): Middleware {
  return (handler, method) => {
    const suggest = createSuggest(method, validate);
    const write = createRequestWriter(method.input);
    return around(async function* (messages, request, call) {
      try {
        yield* messages();
      } catch (thrown) {
        throw thrown instanceof KibitzError && thrown.violations.length > 0 && isShort(call)
          ? await suggest(thrown, write(request), call)
          : thrown;
      }
    })(handler, method);
  };
}

/** Returns false for a batch that is long or has unreadable items. Its error does not contain a corrected request. */
function isShort({ method, outcome, unreadable }: Call): boolean {
  return !batchMethods.includes(method) || (outcome.readBytes <= requestMaxBytes && !unreadable?.size);
}

function withLimits(limits: Limits): Middleware {
  const limited = around(async function* (messages, _, { account, outcome }) {
    try {
      for await (const message of messages()) {
        if (!hasRateLimitHeaders(outcome)) {
          await reportWindows(limits, account, outcome);
        }
        yield message;
      }
    } catch (thrown) {
      if (thrown instanceof KibitzError) {
        throw await countError(limits, account, outcome, thrown);
      }
      await reportWindows(limits, account, outcome);
      throw thrown;
    }
  });
  return (handler, method) => (isCounted(method) ? limited(handler, method) : handler);
}

function withRules(): Middleware {
  return around(async function* (messages, request, { method }) {
    refuseViolations(checkRules(request, method.input));
    yield* messages();
  });
}

/** Adds a weak ETag of the part of a GET response that never changes. If there is no such part, forbids caching. */
function withEtag(): Middleware {
  return around(async function* (messages, _, { method, isGet, outcome: { answerHeaders } }) {
    for await (const message of messages()) {
      if (isGet && !answerHeaders.has("cache-control")) {
        const part = repeatablePart(message);
        answerHeaders.set("cache-control", part ? "private, no-cache" : "no-store");
        if (part) {
          const digest = createHash("sha256").update(toBinary(method.output, part)).digest("base64url");
          answerHeaders.set("etag", `W/"${digest.slice(0, 22)}"`);
        }
      }
      yield message;
    }
  });
}

type Around = (
  messages: () => AsyncIterable<Message>,
  request: Message,
  call: Call,
) => AsyncGenerator<Message>;

function around(generate: Around): Middleware {
  return (handler) => (request, call) => generate(() => handler(request, call), request, call);
}
