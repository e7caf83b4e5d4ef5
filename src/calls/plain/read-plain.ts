import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import { errorFromViolations, withCost } from "../../errors/errors.ts";
import { costOf } from "../policy.ts";
import type { Rules } from "../rules.ts";
import { createSuggest, type PreflightMessage } from "../suggest.ts";
import { createMessageReader } from "./read-message.ts";

export interface PlainReaderOptions {
  /** Called only if a request cannot be read, to report all its violations at once. The middleware checks every other message. */
  readonly violationsOf: Rules;
  /** Called only if a request cannot be read. It prevents the suggestion of a request that would be rejected too. */
  readonly preflight: PreflightMessage;
}

/**
 * Reads a request from a plain JSON object.
 *
 * @param suggests true if errors suggest a request that would be answered
 * @throws KibitzError with all violations
 */
type ReadPlain = (
  sent: Readonly<Record<string, unknown>>,
  account: Account,
  suggests?: boolean,
) => Promise<Message>;

/**
 * Creates the reader of plain JSON for the requests of a method.
 *
 * @param readMessage reads such requests
 */
export function createPlainReader(
  method: DescMethod,
  { violationsOf, preflight }: PlainReaderOptions,
  readMessage = createMessageReader(method.input),
): ReadPlain {
  const suggest = createSuggest(method, preflight, readMessage);
  return async (sent, account, suggests = true) => {
    const { message, violations } = readMessage(sent);
    if (violations.length > 0) {
      const error = withCost(
        errorFromViolations(violationsOf(message, method.input, violations)),
        costOf(message),
      );
      throw suggests ? await suggest(error, sent, account) : error;
    }
    return message;
  };
}
