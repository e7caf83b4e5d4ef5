import { createContextKey } from "@connectrpc/connect";
import { type Account, localAccount } from "../access/account.ts";

/** Where services find what the caller may ask: whoever is let in by {@link authenticate}. */
export const accountKey = createContextKey<Account>(localAccount, { description: "account" });
