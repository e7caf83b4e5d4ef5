import { type ContextKey, type ContextValues, createContextValues } from "@connectrpc/connect";
import { type Account, localAccount } from "../../access/account.ts";
import type { NodeRequest } from "../../http/message.ts";
import { contextOf, outcomeOf, type RequestContext, type RequestOutcome } from "../../request/context.ts";

interface RpcState {
  readonly request: RequestContext;
  readonly outcome: RequestOutcome;
  readonly isGet: boolean;
  /** The account of the caller. The request gate sets it for calls that have an account. */
  account: Account;
}

/** The key has no default value, so that one request never gets the state of another. */
export const stateKey: ContextKey<RpcState> = {
  id: Symbol("state"),
  get defaultValue(): RpcState {
    throw new TypeError("the request did not come through the adapter");
  },
};

export function valuesFor(req: NodeRequest): ContextValues {
  const isGet = req.method === "GET";
  const state = { request: contextOf(req), outcome: outcomeOf(req), account: localAccount, isGet };
  return createContextValues().set(stateKey, state);
}
