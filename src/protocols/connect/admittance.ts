import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type Entrance, tellWindows } from "../../access/entrance.ts";
import type { Limits } from "../../access/limits.ts";
import { isCounted, kindOfCall } from "../../calls/policy.ts";
import { errorFromUnknown, type KibitzError } from "../../errors/errors.ts";
import type { NodeRequest } from "../../http/message.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { connectErrorFrom } from "./errors.ts";
import { stateKey } from "./state.ts";

/**
 * Admits calls before Connect reads their bodies. Connect rejects a broken, too large or unknown message before any
 * handler is called: here such a call gets its account, its RateLimit fields and its place in the error quota.
 */
export function createAdmittance(entrance: Entrance, limits: Limits) {
  /** Authenticates the caller by the headers, and checks its error quota. @throws ConnectError */
  async function admit({ values, method, responseHeader }: HandlerContext): Promise<void> {
    const state = values.get(stateKey);
    const { request, outcome } = state;
    try {
      const { account } = await entrance.enter(request, outcome, kindOfCall(method));
      state.account = account;
      if (isCounted(method)) {
        await tellWindows(limits, account, outcome);
      }
    } catch (thrown) {
      const error = errorFromUnknown(thrown);
      outcome.code = error.code;
      throw connectErrorFrom(error, request.id);
    } finally {
      for (const [name, value] of outcome.answerHeaders) {
        responseHeader.set(name, value);
      }
    }
  }

  return {
    admit,
    /**
     * Called before Connect rejects a wrong HTTP method or media type, because Connect then skips the request gate. Rejects if
     * the caller is unknown, or has used up its error quota. The method is undefined if there is none of that name.
     */
    async refusing(req: NodeRequest, method: DescMethod | undefined, error: KibitzError): Promise<void> {
      const kind = method === undefined || isCounted(method) ? "limited" : "call";
      const entry = await entrance.enter(contextOf(req), outcomeOf(req), kind);
      await entry.refused(error);
    },
    /** Counts an error of a call that did not reach the service. */
    countRefusal(error: KibitzError, { values, method }: HandlerContext): void {
      if (isCounted(method)) {
        const { account, outcome } = values.get(stateKey);
        limits.refusals.count(account, error, outcome.readBytes);
      }
    },
  };
}
