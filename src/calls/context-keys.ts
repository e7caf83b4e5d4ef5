import type { Message } from "@bufbuild/protobuf";
import { type ContextKey, createContextKey } from "@connectrpc/connect";
import { type Account, localAccount } from "../access/account.ts";
import type { KibitzError } from "../errors/errors.ts";
import type { RequestContext, RequestOutcome } from "../request/context.ts";

/** An item of a batch that could not be read. */
export interface UnreadableItem {
  /** The item as it was sent. Takes as long as to parse it. */
  sent(): Readonly<Record<string, unknown>>;
  /** What is wrong with it. Takes as long as to parse it, and to check what could be read. */
  explain(): KibitzError;
  /** Reads another in its stead. @throws KibitzError */
  read(sent: Readonly<Record<string, unknown>>): Message;
}

/** A key without a default: what one call is told must never be another's. */
function requiredKey<T>(description: string): ContextKey<T> {
  return {
    id: Symbol(description),
    get defaultValue(): T {
      throw new TypeError(`the call was made without its ${description}`);
    },
  };
}

/** Where interceptors and services find who asks. */
export const requestKey = requiredKey<RequestContext>("request");

/** Where they find what becomes of it, and write down what they know. */
export const outcomeKey = requiredKey<RequestOutcome>("outcome");

/** Where services find what the caller may ask for: whoever was let in at the entrance. */
export const accountKey = createContextKey<Account>(localAccount, { description: "account" });

/** Where a batch finds what could not be read of its items, by their places. They are empty in its message. */
export const unreadableKey = createContextKey<ReadonlyMap<number, UnreadableItem>>(new Map(), {
  description: "unreadable items",
});

/** Where Connect's door finds a request that was decoded before Connect could. */
export const decodedKey = createContextKey<Message | undefined>(undefined, {
  description: "decoded request",
});

/** Where interceptors find the headers of the answer that Connect is going to send, also if it becomes an error. */
export const responseHeaderKey = createContextKey<Headers | undefined>(undefined, {
  description: "headers of the answer",
});
