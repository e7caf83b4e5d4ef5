import type { DescMethod } from "@bufbuild/protobuf";
import { createRequestWriter } from "../../calls/plain/write-message.ts";
import { batchMethods, isCounted } from "../../calls/policy.ts";
import { createSuggest, type PreflightMessage } from "../../calls/suggest.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { Log } from "../../log/log.ts";
import type { Explain } from "./handlers.ts";

/**
 * Adds the nearest request that would be answered to the errors of analyses and reviews. A batch is too long for the details of an
 * error.
 */
export function createExplain(method: DescMethod, judge: PreflightMessage, log: Pick<Log, "error">): Explain {
  const suggest = createSuggest(method, judge);
  const write = createRequestWriter(method.input);
  return async (thrown, message, { account, request }) => {
    if (!(thrown instanceof KibitzError) || !isCounted(method) || batchMethods.includes(method)) {
      return thrown;
    }
    try {
      return await suggest(thrown, write(message), account);
    } catch (err) {
      log.error({ err, requestId: request.id }, "a suggestion failed");
      return thrown;
    }
  };
}
