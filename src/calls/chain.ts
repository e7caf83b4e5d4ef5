import { createHash } from "node:crypto";
import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import type { Access } from "../access/access.ts";
import { hasRateLimitHeaders } from "../access/counters.ts";
import { countRefusal, tellWindows } from "../access/entrance.ts";
import type { Limits } from "../access/limits.ts";
import { errorFromFaults, errorFromUnknown, KibitzError } from "../errors/errors.ts";
import type { CallLine } from "../log/call-line.ts";
import { accountKey, outcomeKey, requestKey } from "./context-keys.ts";
import { repeatablePart, searchFactsOf } from "./convert.ts";
import { isCounted } from "./policy.ts";
import type { Rules } from "./rules.ts";

/** The one chain for every door, outermost first. Who calls is known before: `access/entrance`. */
export function createChain(
  access: Access,
  rules: Rules,
  write: CallLine,
  explain: ExplainConnectError,
): readonly Interceptor[] {
  return [logCalls(write, explain), rateLimitHeaders(access.limits), validate(rules), setEtag()];
}

/**
 * The chain for health and reflection. Nobody looks who asks them: whoever watches a server must see that it lives
 * also with a key that was revoked. Nothing is counted, their protos have no rules, and as health checks come every
 * second, their lines are for whoever looks for faults.
 */
export function createToolChain(write: CallLine, explain: ExplainConnectError): readonly Interceptor[] {
  return [logCalls(write, explain)];
}

/** Refuses requests that break the rules of the proto, before any service method sees them. */
export function validate(rules: Rules): Interceptor {
  return (next) => (request) => {
    const judge = (message: Message) => {
      const faults = rules(message, request.method.input);
      if (faults.length > 0) {
        throw errorFromFaults(faults);
      }
    };
    try {
      return next(watchRequest(request, judge));
    } catch (fault) {
      return Promise.reject(fault);
    }
  };
}

/**
 * Answers to GET get a weak ETag over the part of them that the same request brings again, so that whoever has one
 * is spared the next. What may be another answer next time is not to be kept at all.
 */
export function setEtag(): Interceptor {
  return (next) => (request) =>
    request.stream || request.requestMethod !== "GET" ? next(request) : answerTagged(next, request);
}

async function answerTagged(
  next: Parameters<Interceptor>[0],
  request: UnaryRequest,
): Promise<UnaryResponse | StreamResponse> {
  const response = await next(request);
  if (response.stream) {
    return response;
  }
  const { answerHeaders } = request.contextValues.get(outcomeKey);
  if (!answerHeaders.has("cache-control")) {
    const part = repeatablePart(response.message);
    answerHeaders.set("cache-control", part ? "private, no-cache" : "no-store");
    if (part) {
      answerHeaders.set("etag", etagOf(request.method.output, part));
    }
  }
  return response;
}

/** Of frozen answers, which come again. */
const etags = new WeakMap<Message, string>();

function etagOf(desc: DescMessage, message: Message): string {
  const known = etags.get(message);
  if (known !== undefined) {
    return known;
  }
  const digest = createHash("sha256").update(toBinary(desc, message)).digest("base64url");
  const etag = `W/"${digest.slice(0, 22)}"`;
  if (Object.isFrozen(message)) {
    etags.set(message, etag);
  }
  return etag;
}

/**
 * Counts requests that are refused, and tells how the caller's windows stand also in their answers: of a batch, the
 * first message may be a refusal.
 */
export function rateLimitHeaders(limits: Limits): Interceptor {
  return (next) => (request) => {
    const { contextValues, method } = request;
    if (!isCounted(method)) {
      return next(request);
    }
    const outcome = contextValues.get(outcomeKey);
    const account = contextValues.get(accountKey);
    return watchAnswer(() => next(request), {
      message: () => (hasRateLimitHeaders(outcome) ? undefined : tellWindows(limits, account, outcome)),
      async failed(thrown) {
        // What refused a request that was decoded before Connect could is an error of ours already made one of Connect's.
        const error = thrown instanceof ConnectError ? thrown.cause : thrown;
        // A caller who has left was not refused, and a failure of ours is none of theirs.
        await (error instanceof KibitzError
          ? countRefusal(limits, account, outcome, error)
          : tellWindows(limits, account, outcome));
        return thrown;
      },
    });
  };
}

/** What an error of Connect's own means to the caller of a method with such requests. */
export type ExplainConnectError = (error: ConnectError, input: DescMessage) => KibitzError;

/** One line a call, when it has ended: who asked what through which door, how it ended, how long it took and what for. */
export function logCalls(write: CallLine, explain: ExplainConnectError): Interceptor {
  return (next) => (request) => {
    const { contextValues, method } = request;
    const startedAt = performance.now();
    const outcome = contextValues.get(outcomeKey);
    outcome.hasLine = true;
    return watchAnswer(() => next(request), {
      ended(end) {
        const code = end.kind === "ok" ? "ok" : codeOf(end, request, explain);
        const { key, address } = contextValues.get(accountKey);
        const hasFailed = end.kind === "failed";
        const fields = {
          ...searchFactsOf(end.last),
          method: method.name,
          key: key?.id,
          limit: hasFailed ? outcome.limit : undefined,
          err: hasFailed && code === "internal" ? end.thrown : undefined,
        };
        write(contextValues.get(requestKey), { code, startedAt, address, fields });
      },
    });
  };
}

/**
 * A caller that leaves ends its call with the reason of its signal, whatever that is: no failure of ours. Nor is what
 * fails at the reader's: its HTTP/2 stream is gone, and the signal does not say so yet.
 * Connect's gRPC client resets its stream with INTERNAL_ERROR when its deadline has passed (repair
 * `expectDeadlineResets`).
 */
function codeOf(
  end: Exclude<AnswerEnd, { kind: "ok" }>,
  { signal, method }: UnaryRequest | StreamRequest,
  explain: ExplainConnectError,
): string {
  const { thrown } = end;
  if ("thrown" in end && signal.aborted && thrown === signal.reason) {
    return thrown instanceof ConnectError && thrown.code === Code.DeadlineExceeded
      ? "deadline_exceeded"
      : "canceled";
  }
  if (end.kind === "left") {
    return "canceled";
  }
  if (!(thrown instanceof ConnectError)) {
    return errorFromUnknown(thrown).code;
  }
  return thrown.code === Code.Canceled ? "canceled" : explain(thrown, method.input).code;
}

/** How an answer ended: at its last message, at an error, or at a reader that left. */
export type AnswerEnd = {
  /** The last message that was handed on, or was on its way. */
  readonly last: Message | undefined;
} & (
  | { readonly kind: "ok" }
  | { readonly kind: "failed"; readonly thrown: unknown }
  /** With what was thrown at the reader's, if anything was. */
  | { readonly kind: "left"; readonly thrown?: unknown }
);

/** What an interceptor does with an answer, whether that is one message or a stream of them. */
export interface AnswerWatch {
  /** Before a message is handed on. */
  message?(message: Message): Promise<void> | void;
  /** Gives what is thrown in the stead of what was. */
  failed?(thrown: unknown): unknown;
  /** Once, however it ended. */
  ended?(end: AnswerEnd): void;
}

/** Asks for an answer, and watches it to its end: a stream goes on, and fails, where its messages are read. */
export async function watchAnswer(
  ask: () => Promise<UnaryResponse | StreamResponse>,
  watch: AnswerWatch,
): Promise<UnaryResponse | StreamResponse> {
  let end: AnswerEnd | undefined;
  try {
    const response = await ask();
    if (response.stream) {
      return { ...response, message: watchMessages(response.message, watch) };
    }
    const told = watch.message?.(response.message);
    if (told) {
      await told;
    }
    end = { kind: "ok", last: response.message };
    return response;
  } catch (thrown) {
    end = { kind: "failed", last: undefined, thrown };
    throw watch.failed ? await watch.failed(thrown) : thrown;
  } finally {
    if (end) {
      watch.ended?.(end);
    }
  }
}

async function* watchMessages(messages: AsyncIterable<Message>, watch: AnswerWatch): AsyncGenerator<Message> {
  let end: AnswerEnd | undefined;
  let last: Message | undefined;
  let delivering = false;
  try {
    for await (const message of messages) {
      await watch.message?.(message);
      delivering = true;
      last = message;
      yield message;
      delivering = false;
    }
    end = { kind: "ok", last };
  } catch (thrown) {
    end = delivering ? { kind: "left", last, thrown } : { kind: "failed", last, thrown };
    throw watch.failed ? await watch.failed(thrown) : thrown;
  } finally {
    watch.ended?.(end ?? { kind: "left", last });
  }
}

/** The request, whose messages are looked at: the one there is at once, those of a stream as they are read. */
export function watchRequest(
  request: UnaryRequest | StreamRequest,
  look: (message: Message) => void,
): UnaryRequest | StreamRequest {
  if (!request.stream) {
    look(request.message);
    return request;
  }
  const { message: messages } = request;
  const message = (async function* () {
    for await (const one of messages) {
      look(one);
      yield one;
    }
  })();
  return { ...request, message };
}
