import type { Interceptor } from "@connectrpc/connect";
import type { Limits } from "../../access/limits.ts";
import type { Caller } from "../../caller.ts";
import { accountKey, callerKey } from "../context-keys.ts";
import { isCounted } from "../counted-calls.ts";
import { hasRateLimitFields, leaveRateLimitFields } from "../rate-limit-fields.ts";

/** Tells how the caller's windows stand also in answers of requests that are refused, or given back. */
export function tellLimits(limits: Limits): Interceptor {
  return (next) => async (request) => {
    const { contextValues, method } = request;
    if (!isCounted(method)) {
      return next(request);
    }
    const caller = contextValues.get(callerKey);
    const tell = async () =>
      leaveRateLimitFields(caller, await limits.windowsOf(contextValues.get(accountKey)));
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: told(response.message, caller, tell) } : response;
    } catch (thrown) {
      await tell();
      throw thrown;
    }
  };
}

/** A stream is refused where its messages are read; and of a batch, the first message may be a refusal. */
async function* told<T>(messages: AsyncIterable<T>, caller: Caller, tell: () => Promise<void>) {
  try {
    for await (const message of messages) {
      if (!hasRateLimitFields(caller)) {
        await tell();
      }
      yield message;
    }
  } catch (thrown) {
    await tell();
    throw thrown;
  }
}
