import { createHash } from "node:crypto";
import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type UnaryRequest,
} from "@connectrpc/connect";
import type { Access } from "../access/access.ts";
import { hasRateLimitHeaders } from "../access/counters.ts";
import { countRefusal, tellWindows } from "../access/entrance.ts";
import type { Limits } from "../access/limits.ts";
import { errorFromFaults, errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { createCallLine } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import { accountKey, outcomeKey, requestKey } from "./context-keys.ts";
import { repeatablePart, searchFactsOf } from "./convert.ts";
import { isCounted } from "./policy.ts";
import type { Rules } from "./rules.ts";
import { type AnswerEnd, watchAnswer, watchRequest } from "./watch-call.ts";

/** The one chain for every door, outermost first. Who calls is known before: `access/entrance`. */
export function createChain(
  access: Access,
  rules: Rules,
  log: Log,
  showAddress: (address: string) => string | undefined,
  explain: ExplainConnectError,
): readonly Interceptor[] {
  return [logCalls(log, showAddress, explain), rateLimitHeaders(access.limits), validate(rules), setEtag()];
}

/**
 * The chain for health and reflection. Nobody looks who asks them: whoever watches a server must see that it lives
 * also with a key that was revoked. Nothing is counted, their protos have no rules, and as health checks come every
 * second, the log is not for them.
 */
export function createToolChain(log: Log, explain: ExplainConnectError): readonly Interceptor[] {
  return [logCalls(log, () => undefined, explain, "debug")];
}

/** Refuses requests that break the rules of the proto, before any service method sees them. */
export function validate(rules: Rules): Interceptor {
  return (next) => async (request) =>
    next(
      watchRequest(request, (message) => {
        const faults = rules(message, request.method.input);
        if (faults.length > 0) {
          throw errorFromFaults(faults);
        }
      }),
    );
}

/**
 * Answers to GET get a weak ETag over the part of them that the same request brings again, so that whoever has one
 * is spared the next. What may be another answer next time is not to be kept at all.
 */
export function setEtag(): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (request.stream || response.stream || request.requestMethod !== "GET") {
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
  };
}

function etagOf(desc: DescMessage, message: Message): string {
  const digest = createHash("sha256").update(toBinary(desc, message)).digest("base64url");
  return `W/"${digest.slice(0, 22)}"`;
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
export function logCalls(
  log: Log,
  showAddress: (address: string) => string | undefined,
  explain: ExplainConnectError,
  level?: "info" | "debug",
): Interceptor {
  const write = createCallLine(log, showAddress, level);
  return (next) => (request) => {
    const { contextValues, method } = request;
    const startedAt = performance.now();
    contextValues.get(outcomeKey).hasLine = true;
    return watchAnswer(() => next(request), {
      ended(end) {
        const code = end.kind === "ok" ? "ok" : codeOf(end, request, explain);
        const { key, address } = contextValues.get(accountKey);
        const fields = {
          method: method.name,
          ...(key && { key: key.id }),
          ...searchFactsOf(end.last),
          ...(code === "internal" && end.kind === "failed" && { err: end.thrown }),
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
