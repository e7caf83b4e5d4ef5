import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Account } from "../access/account.ts";
import { errorFromFaults, errorFromUnknown, type KibitzError } from "../errors/errors.ts";
import { withSuggestion } from "../errors/with-suggestion.ts";
import type { MessageReading } from "./codec/read-message.ts";

/**
 * Judges a request of a method, or an item of its batch, as the method's calls are judged until they are counted.
 * Rejects with the KibitzError that such a call would end with.
 */
export type JudgeMessage = (message: Message, method: DescMethod, account: Account) => Promise<unknown>;

/** What was thrown at a request as the error for its caller, with a request that would be answered if there is one. */
export type ExplainRefusal = (
  thrown: unknown,
  sent: Readonly<Record<string, unknown>>,
  account: Account,
) => Promise<KibitzError>;

/** @param read the reader of such requests. */
export function createExplainRefusal(
  method: DescMethod,
  read: (json: Readonly<Record<string, unknown>>) => MessageReading,
  judge: JudgeMessage,
): ExplainRefusal {
  return (thrown, sent, account) =>
    withSuggestion(errorFromUnknown(thrown), sent, async (candidate) => {
      const { message, faults } = read(candidate);
      if (faults.length > 0) {
        throw errorFromFaults(faults);
      }
      await judge(message, method, account);
    });
}
