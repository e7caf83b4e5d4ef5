import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type AdmitCall, reportWindows } from "../../access/admit-call.ts";
import type { Limits } from "../../access/limits.ts";
import { isCounted, kindOfCall } from "../../calls/policy.ts";
import { errorFromUnknown, type KibitzError } from "../../errors/errors.ts";
import type { NodeRequest } from "../../http/message.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { connectErrorFrom } from "./errors.ts";
import { stateKey } from "./state.ts";

/** Admits a call before Connect reads its body, so that even an unreadable message counts in the error quota. */
export function createRequestGate(admitCall: AdmitCall, limits: Limits) {
  async function enter({ values, method, responseHeader }: HandlerContext): Promise<void> {
    const state = values.get(stateKey);
    const { request, outcome } = state;
    try {
      const { account } = await admitCall(request, outcome, kindOfCall(method));
      state.account = account;
      if (isCounted(method)) {
        await reportWindows(limits, account, outcome);
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
    enter,
    /** Checks the API key and the error quota, because Connect skips the request gate for a wrong method or media type. */
    async refusing(req: NodeRequest, method: DescMethod | undefined, error: KibitzError): Promise<void> {
      const kind = method === undefined || isCounted(method) ? "limited" : "call";
      const admitted = await admitCall(contextOf(req), outcomeOf(req), kind);
      await admitted.refused(error);
    },
    countRefusal(error: KibitzError, { values, method }: HandlerContext): void {
      if (isCounted(method)) {
        const { account, outcome } = values.get(stateKey);
        limits.errorQuota.count(account, error, outcome.readBytes);
      }
    },
  };
}
