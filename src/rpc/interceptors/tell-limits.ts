import type { Interceptor } from "@connectrpc/connect";
import type { Limits } from "../../access/limits.ts";
import { accountKey } from "../account-key.ts";
import { callerKey } from "../caller-key.ts";
import { isCounted } from "../counted-calls.ts";
import { hasRateLimitFields, leaveRateLimitFields } from "../rate-limit-fields.ts";

/** Tells how the caller's windows stand also in answers that count nothing: requests that are refused before. */
export function tellLimits(limits: Limits): Interceptor {
  return (next) => async (request) => {
    const { contextValues, method } = request;
    if (!isCounted(method)) {
      return next(request);
    }
    const tell = async () => {
      const caller = contextValues.get(callerKey);
      if (!hasRateLimitFields(caller)) {
        leaveRateLimitFields(caller, await limits.windowsOf(contextValues.get(accountKey)));
      }
    };
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: toldOnFailure(response.message, tell) } : response;
    } catch (thrown) {
      await tell();
      throw thrown;
    }
  };
}

/** A stream is refused where its messages are read. */
async function* toldOnFailure<T>(messages: AsyncIterable<T>, tell: () => Promise<void>) {
  try {
    yield* messages;
  } catch (thrown) {
    await tell();
    throw thrown;
  }
}
