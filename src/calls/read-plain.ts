import type { DescMethod, Message } from "@bufbuild/protobuf";
import { errorFromViolations, withCost } from "../errors/errors.ts";
import type { ReadCall } from "./call.ts";
import { createMessageReader } from "./plain/read-message.ts";
import { costOf } from "./policy.ts";
import { checkRules } from "./rules.ts";
import { createSuggest, type ValidateMessage } from "./suggest.ts";

export interface PlainReaderOptions {
  /** If this function rejects a corrected request, the error does not contain the corrected request. */
  readonly validate: ValidateMessage;
}

/** Rejects with one KibitzError for all violations. If `suggests` is true, the error may contain a corrected request. */
type ReadPlain = (
  sent: Readonly<Record<string, unknown>>,
  call: ReadCall,
  suggests?: boolean,
) => Promise<Message>;

export function createPlainReader(
  method: DescMethod,
  { validate }: PlainReaderOptions,
  readMessage = createMessageReader(method.input),
): ReadPlain {
  const suggest = createSuggest(method, validate, readMessage);
  return async (sent, call, suggests = true) => {
    const { message, violations } = readMessage(sent);
    if (violations.length > 0) {
      // Add the other violations of the message, so that one error contains all violations.
      const all = checkRules(message, method.input, violations);
      const error = withCost(errorFromViolations(all), costOf(message));
      throw suggests ? await suggest(error, sent, call) : error;
    }
    return message;
  };
}
