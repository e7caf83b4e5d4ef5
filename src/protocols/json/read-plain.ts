import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import { createMessageReader } from "../../calls/plain/read-message.ts";
import { costOf } from "../../calls/policy.ts";
import type { Rules } from "../../calls/rules.ts";
import { createSuggest, type PreflightMessage } from "../../calls/suggest.ts";
import { errorFromFaults, errorFromUnknown, type KibitzError, withCost } from "../../errors/errors.ts";

/** A request that was read. */
export interface ReadRequest {
  readonly message: Message;
  /** For a batch: the JSON texts of the items that could not be read, by index. */
  readonly unreadable?: ReadonlyMap<number, string>;
  /** Makes the error for the caller of what its call threw, with a suggested request if there is one. */
  explain(thrown: unknown): Promise<KibitzError>;
}

export interface PlainReaderOptions {
  /** Is called only if a request cannot be read, to report all its violations at once. The middleware checks every message. */
  readonly faultsOf: Rules;
  /** Is called only if a request was refused, to suggest none that would be refused, too. */
  readonly judge: PreflightMessage;
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
) => Promise<ReadRequest>;

/** @param readMessage reads such requests */
export function createPlainReader(
  method: DescMethod,
  { faultsOf, judge }: PlainReaderOptions,
  readMessage = createMessageReader(method.input),
): ReadPlain {
  const suggest = createSuggest(method, judge, readMessage);
  return async (sent, account, suggests = true) => {
    const { message, faults } = readMessage(sent);
    const explain = async (thrown: unknown) =>
      suggests ? suggest(thrown, sent, account) : errorFromUnknown(thrown);
    if (faults.length > 0) {
      const error = errorFromFaults(faultsOf(message, method.input, faults));
      throw await explain(withCost(error, costOf(message)));
    }
    return { message, explain };
  };
}
