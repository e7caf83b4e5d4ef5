import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import { errorFromFaults, withCost } from "../../errors/errors.ts";
import { costOf } from "../policy.ts";
import type { Rules } from "../rules.ts";
import { createSuggest, type PreflightMessage } from "../suggest.ts";
import { createMessageReader } from "./read-message.ts";

export interface PlainReaderOptions {
  /** Is called only if a request cannot be read, to report all its violations at once. The middleware checks every message. */
  readonly faultsOf: Rules;
  /** Is called only if a request cannot be read, to suggest none that would be refused, too. */
  readonly preflight: PreflightMessage;
}

/**
 * Reads a request that is plain JSON already.
 *
 * @param suggests whether errors suggest a request that would be answered
 * @throws KibitzError with all violations
 */
type ReadPlain = (
  sent: Readonly<Record<string, unknown>>,
  account: Account,
  suggests?: boolean,
) => Promise<Message>;

/** @param readMessage reads such requests */
export function createPlainReader(
  method: DescMethod,
  { faultsOf, preflight }: PlainReaderOptions,
  readMessage = createMessageReader(method.input),
): ReadPlain {
  const suggest = createSuggest(method, preflight, readMessage);
  return async (sent, account, suggests = true) => {
    const { message, faults } = readMessage(sent);
    if (faults.length > 0) {
      const error = withCost(errorFromFaults(faultsOf(message, method.input, faults)), costOf(message));
      throw suggests ? await suggest(error, sent, account) : error;
    }
    return message;
  };
}
