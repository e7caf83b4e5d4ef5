import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { Access } from "../../access/access.ts";
import type { Account } from "../../access/account.ts";
import type { Caller } from "../../caller.ts";
import { KibitzError } from "../../errors/errors.ts";
import { accountKey, callerKey } from "../context-keys.ts";
import { isCounted } from "../counted-calls.ts";

/**
 * Finds out who asks. A credential that is present is never ignored, whatever the call: its sender believes to be
 * known, and must learn that they are not.
 */
export function authenticate(access: Access): Interceptor {
  return (next) => (request) => {
    const { contextValues, method } = request;
    const enter = (account: Account) => {
      contextValues.set(accountKey, account);
      return next(request);
    };
    const account = accountOf(access, contextValues.get(callerKey), method);
    return account instanceof Promise ? account.then(enter) : enter(account);
  };
}

/** Who makes a call of the method. @throws KibitzError `invalid_api_key`, `api_key_required` */
export function accountOf(access: Access, caller: Caller, method: DescMethod): Account | Promise<Account> {
  const enter = (account: Account) => {
    if (access.keysOnly && account.key === undefined && isCounted(method)) {
      throw keyRequired(access);
    }
    return account;
  };
  const account = access.accountOf(caller);
  return account instanceof Promise ? account.then(enter) : enter(account);
}

/** The error for calls that are about a key, or for holders of one, and carry none. */
export function keyRequired({ selfService }: Access): KibitzError {
  return selfService
    ? new KibitzError(
        "api_key_required",
        "This call requires an API key, sent as Authorization: Bearer kbz_…; POST /v1/keys issues one.",
      )
    : new KibitzError(
        "api_key_required",
        "This call requires an API key, sent as Authorization: Bearer kbz_…; the operator of this service issues keys.",
        { nextAction: "contact_operator" },
      );
}
