import { createHash } from "node:crypto";
import { type DescMessage, type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";
import { ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { hasRateLimitHeaders } from "../access/counters.ts";
import { countRefusal, tellWindows } from "../access/entrance.ts";
import type { Limits } from "../access/limits.ts";
import { errorFromFaults, KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import type { RequestOutcome } from "../request/outcome.ts";
import { accountKey, outcomeKey } from "./context-keys.ts";
import { repeatablePart } from "./convert.ts";
import { type ExplainConnectError, logCalls } from "./log-calls.ts";
import { isCounted } from "./policy.ts";
import type { Rules } from "./rules.ts";

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
  const check = (method: DescMethod, message: Message) => {
    const faults = rules(message, method.input);
    if (faults.length > 0) {
      throw errorFromFaults(faults);
    }
  };
  return (next) => (request) => {
    if (!request.stream) {
      check(request.method, request.message);
      return next(request);
    }
    // A stream's messages come one by one, when they are read.
    const { method, message: messages } = request;
    const message = (async function* () {
      for await (const one of messages) {
        check(method, one);
        yield one;
      }
    })();
    return next({ ...request, message });
  };
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

/** Counts requests that are refused, and tells how the caller's windows stand also in their answers. */
export function rateLimitHeaders(limits: Limits): Interceptor {
  return (next) => async (request) => {
    const { contextValues, method } = request;
    if (!isCounted(method)) {
      return next(request);
    }
    const call = { limits, outcome: contextValues.get(outcomeKey), account: contextValues.get(accountKey) };
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: told(response.message, call) } : response;
    } catch (thrown) {
      await refuse(call, thrown);
      throw thrown;
    }
  };
}

interface Call {
  readonly limits: Limits;
  readonly account: Account;
  readonly outcome: RequestOutcome;
}

function refuse({ limits, account, outcome }: Call, thrown: unknown): Promise<void> {
  // What refused a request that was decoded before Connect could is an error of ours already made one of Connect's.
  const error = thrown instanceof ConnectError ? thrown.cause : thrown;
  // A caller who has left was not refused, and a failure of ours is none of theirs.
  return error instanceof KibitzError
    ? countRefusal(limits, account, outcome, error)
    : tellWindows(limits, account, outcome);
}

/** A stream is refused where its messages are read; and of a batch, the first message may be a refusal. */
async function* told<T>(messages: AsyncIterable<T>, call: Call) {
  try {
    for await (const message of messages) {
      if (!hasRateLimitHeaders(call.outcome)) {
        await tellWindows(call.limits, call.account, call.outcome);
      }
      yield message;
    }
  } catch (thrown) {
    await refuse(call, thrown);
    throw thrown;
  }
}
