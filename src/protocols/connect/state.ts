import { type ContextKey, type ContextValues, createContextValues } from "@connectrpc/connect";
import { type Account, localAccount } from "../../access/account.ts";
import type { NodeRequest } from "../../http/message.ts";
import { contextOf, outcomeOf, type RequestContext, type RequestOutcome } from "../../request/context.ts";

interface RpcState {
  readonly request: RequestContext;
  readonly outcome: RequestOutcome;
  readonly isGet: boolean;
  /** The account of the caller, or the local account until the request gate has authenticated the caller. */
  account: Account;
  /** Aborts if the client disconnects, and after its deadline. The request gate adds the deadline. */
  signal: AbortSignal;
}

/** The key has no default value, so that two requests can never use the same state. */
export const stateKey: ContextKey<RpcState> = {
  id: Symbol("state"),
  get defaultValue(): RpcState {
    throw new TypeError("the request did not come through the adapter");
  },
};

export function valuesFor(req: NodeRequest, signal: AbortSignal): ContextValues {
  const isGet = req.method === "GET";
  const state = { request: contextOf(req), outcome: outcomeOf(req), account: localAccount, signal, isGet };
  return createContextValues().set(stateKey, state);
}
