import { createContextKey } from "@connectrpc/connect";
import { type Account, localAccount } from "../access/account.ts";
import { type Caller, localCaller } from "../caller.ts";

/** Where interceptors and services find who calls. */
export const callerKey = createContextKey<Caller>(localCaller(), { description: "caller" });

/** Where services find what the caller may ask for: whoever is let in by the interceptor `authenticate`. */
export const accountKey = createContextKey<Account>(localAccount, { description: "account" });

/** Where interceptors find the headers of the answer that Connect is going to send, also if it becomes an error. */
export const responseHeaderKey = createContextKey<Headers | undefined>(undefined, {
  description: "headers of the answer",
});
