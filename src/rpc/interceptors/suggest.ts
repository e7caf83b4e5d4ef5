import { type DescMethod, isMessage, type Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Account } from "../../access/account.ts";
import { KibitzError } from "../../errors/errors.ts";
import { withSuggestion } from "../../errors/with-suggestion.ts";
import { accountKey } from "../context-keys.ts";
import { messageFromPlain, plainFromMessage } from "../convert.ts";
import type { Judge } from "../judge.ts";

const { input } = AnalysisService.method.evaluate;

/**
 * Adds to the error of a refused analysis the nearest request that would be answered. For Connect's own doors: the
 * gateway suggests what its callers wrote, in JSON.
 */
export function suggest(judge: Judge): Interceptor {
  async function explain(thrown: unknown, sent: Message | undefined, method: DescMethod, account: Account) {
    if (!(thrown instanceof KibitzError) || thrown.suggestedRequest || !isMessage(sent, input)) {
      return thrown;
    }
    return withSuggestion(thrown, plainFromMessage(sent), (candidate) =>
      judge.message(messageFromPlain(candidate), method, account),
    );
  }

  return (next) => async (request) => {
    const { method, contextValues } = request;
    const account = contextValues.get(accountKey);
    if (!request.stream) {
      try {
        return await next(request);
      } catch (thrown) {
        throw await explain(thrown, request.message, method, account);
      }
    }
    let sent: Message | undefined;
    const messages = request.message;
    const message = (async function* () {
      for await (const one of messages) {
        sent = one;
        yield one;
      }
    })();
    const response = await next({ ...request, message });
    if (!response.stream) {
      return response;
    }
    const answers = response.message;
    const explained = (async function* () {
      try {
        yield* answers;
      } catch (thrown) {
        throw await explain(thrown, sent, method, account);
      }
    })();
    return { ...response, message: explained };
  };
}
