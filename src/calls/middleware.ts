import { createHash } from "node:crypto";
import { type Message, toBinary } from "@bufbuild/protobuf";
import type { Access } from "../access/access.ts";
import { countRefusal, tellWindows } from "../access/entrance.ts";
import type { Limits } from "../access/limits.ts";
import { hasRateLimitHeaders } from "../access/rate-limit-fields.ts";
import { errorFromFaults, errorFromUnknown, KibitzError } from "../errors/errors.ts";
import type { CallLine } from "../log/call-line.ts";
import { CallerLeft } from "../request/context.ts";
import { type Call, type Handler, withReason } from "./call.ts";
import { repeatablePart, searchFactsOf } from "./convert.ts";
import { isCounted } from "./policy.ts";
import type { Rules } from "./rules.ts";

/** Wraps the handler of a method in a handler that does something more. */
export type Middleware = (handler: Handler) => Handler;

/**
 * The middleware of every method of the API, outermost first. `access/entrance` has authenticated the caller by the headers before the
 * body was read.
 */
export function apiMiddleware(access: Access, rules: Rules, write: CallLine): readonly Middleware[] {
  return [withLog(write), withLimits(access.limits), withRules(rules), withEtag()];
}

/** Writes a line to the log when a call has ended: method, caller, error code, duration, and the facts of its search. */
export function withLog(write: CallLine): Middleware {
  return around(async function* (messages, _, call) {
    const { method, request, outcome, account } = call;
    const startedAt = performance.now();
    let last: Message | undefined;
    // Stays `canceled` if the reader stops early: the generator then sees neither the end nor an error.
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
      // An error while a message is delivered is the connection's: the reader is gone.
      if (!isDelivering) {
        end = { code: codeOf(thrown, call), thrown };
        outcome.code ??= end.code;
      }
      throw thrown;
    } finally {
      const fields = {
        ...searchFactsOf(last),
        method: method.name,
        key: account.key?.id,
        limit: "thrown" in end ? outcome.limit : undefined,
        err: end.code === "internal" ? end.thrown : undefined,
      };
      write(request, { code: end.code, startedAt, address: account.address, fields });
    }
  });
}

/** A call that is no longer awaited fails with the reason of its signal, or with Node's AbortError. Neither is a fault of the server. */
function codeOf(thrown: unknown, call: Call): string {
  const { signal } = call;
  const error = withReason(thrown, call);
  const isOver = signal.aborted && error === signal.reason;
  const hasLeft = error instanceof CallerLeft || (isOver && !(error instanceof KibitzError));
  return hasLeft ? "canceled" : errorFromUnknown(error).code;
}

/** Counts calls that fail by their caller's fault, and says in each answer how much of its limits the caller has left. */
function withLimits(limits: Limits): Middleware {
  return (handler) => {
    const limited = around(async function* (messages, _, { account, outcome }) {
      try {
        for await (const message of messages()) {
          if (!hasRateLimitHeaders(outcome)) {
            await tellWindows(limits, account, outcome);
          }
          yield message;
        }
      } catch (thrown) {
        await (thrown instanceof KibitzError
          ? countRefusal(limits, account, outcome, thrown)
          : tellWindows(limits, account, outcome));
        throw thrown;
      }
    })(handler);
    return (request, call) => (isCounted(call.method) ? limited : handler)(request, call);
  };
}

/** Rejects a request that breaks the rules of its proto, before its method sees it. */
export function withRules(rules: Rules): Middleware {
  return around(async function* (messages, request, { method }) {
    const faults = rules(request, method.input);
    if (faults.length > 0) {
      throw errorFromFaults(faults);
    }
    yield* messages();
  });
}

/**
 * Gives an answer to GET a weak ETag over the part of it that the same request gets again. An answer without such a part may differ
 * next time, and must not be kept.
 */
export function withEtag(): Middleware {
  return (handler) => {
    const tagged = around(async function* (messages, _, { method, outcome: { answerHeaders } }) {
      for await (const message of messages()) {
        if (!answerHeaders.has("cache-control")) {
          const part = repeatablePart(message);
          answerHeaders.set("cache-control", part ? "private, no-cache" : "no-store");
          if (part) {
            const digest = createHash("sha256").update(toBinary(method.output, part)).digest("base64url");
            answerHeaders.set("etag", `W/"${digest.slice(0, 22)}"`);
          }
        }
        yield message;
      }
    })(handler);
    return (request, call) => (call.isGet ? tagged : handler)(request, call);
  };
}

/** Generates the messages of an answer. @param messages calls the wrapped handler */
type Around = (
  messages: () => AsyncIterable<Message>,
  request: Message,
  call: Call,
) => AsyncGenerator<Message>;

/** Makes middleware for every kind of answer: one message is a stream that ends after it. */
function around(generate: Around): Middleware {
  return (handler) => (request, call) => {
    const messages = generate(() => streamOf(handler(request, call)), request, call);
    return call.method.methodKind === "unary" ? onlyOf(messages) : messages;
  };
}

async function* streamOf(answer: ReturnType<Handler>): AsyncGenerator<Message> {
  if (Symbol.asyncIterator in answer) {
    yield* answer;
  } else {
    yield await answer;
  }
}

/** Reads to the end, which is where middleware finishes its work. */
async function onlyOf(messages: AsyncIterable<Message>): Promise<Message> {
  let only: Message | undefined;
  for await (const message of messages) {
    only = message;
  }
  return only as Message;
}
