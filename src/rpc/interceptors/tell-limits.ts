import { ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Account } from "../../access/account.ts";
import { countRefusal, tellWindows } from "../../access/entrance.ts";
import type { Limits } from "../../access/limits.ts";
import { hasRateLimitFields } from "../../access/rate-limit-fields.ts";
import type { Caller } from "../../caller.ts";
import { KibitzError } from "../../errors/errors.ts";
import { accountKey, callerKey } from "../context-keys.ts";
import { isCounted } from "../counted-calls.ts";

/** Counts requests that are refused, and tells how the caller's windows stand also in their answers. */
export function tellLimits(limits: Limits): Interceptor {
  return (next) => async (request) => {
    const { contextValues, method } = request;
    if (!isCounted(method)) {
      return next(request);
    }
    const call = { limits, caller: contextValues.get(callerKey), account: contextValues.get(accountKey) };
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
  readonly caller: Caller;
}

function refuse({ limits, account, caller }: Call, thrown: unknown): Promise<void> {
  // What refused a request that was decoded before Connect could is an error of ours already made one of Connect's.
  const error = thrown instanceof ConnectError ? thrown.cause : thrown;
  // A caller who has left was not refused, and a failure of ours is none of theirs.
  return error instanceof KibitzError
    ? countRefusal(limits, account, caller, error)
    : tellWindows(limits, account, caller);
}

/** A stream is refused where its messages are read; and of a batch, the first message may be a refusal. */
async function* told<T>(messages: AsyncIterable<T>, call: Call) {
  try {
    for await (const message of messages) {
      if (!hasRateLimitFields(call.caller)) {
        await tellWindows(call.limits, call.account, call.caller);
      }
      yield message;
    }
  } catch (thrown) {
    await refuse(call, thrown);
    throw thrown;
  }
}
