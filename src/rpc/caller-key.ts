import { createContextKey } from "@connectrpc/connect";
import { type Caller, localCaller } from "../caller.ts";

/** Where interceptors and services find who asks. */
export const callerKey = createContextKey<Caller>(localCaller(), { description: "caller" });
