import type { ServiceImpl } from "@connectrpc/connect";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import type { Access } from "../access/access.ts";
import { errorFromFaults, KibitzError } from "../errors/errors.ts";
import { durationText } from "../text/duration-text.ts";
import { holdsKey } from "../text/plain-text.ts";
import type { Implementation, MethodContext } from "./calls.ts";
import { accountKey, callerKey } from "./context-keys.ts";
import { messageFromKey, messageFromNewKey } from "./convert.ts";
import { keyRequired } from "./interceptors/authenticate.ts";

/** KeyService over the issuer of keys. */
export function createKeyService(access: Access): Implementation<typeof KeyService> {
  const methods: ServiceImpl<typeof KeyService> = {
    async createKey({ name }, context) {
      keepPrivate(context);
      const { selfService } = access;
      if (selfService === undefined) {
        throw new KibitzError(
          "self_service_disabled",
          "This service does not issue keys on request. Ask its operator for one.",
        );
      }
      if (name !== undefined && holdsKey(name)) {
        const message = "`name` contains an API key, and names are stored and shown as they are.";
        throw errorFromFaults([{ pointer: "/name", code: "invalid_type", message }]);
      }
      const { plan, quota } = selfService;
      const { address } = context.values.get(accountKey);
      const issued = await access.keys.issue({ name, plan, selfService: { address, quota } });
      if (issued.kind === "too_many") {
        const seconds = Math.max(1, Math.ceil((issued.againAt - Date.now()) / 1000));
        throw new KibitzError(
          "rate_limited",
          `This address has reached its limit of ${quota.max} ${quota.max === 1 ? "key" : "keys"} in 24 hours. Try again in ${durationText(seconds)}.`,
          { retryAfterMs: seconds * 1000, quota: "keys-per-day" },
        );
      }
      return messageFromNewKey(issued.record, issued.key);
    },
    async getKey(_, context) {
      keepPrivate(context);
      const { account, key } = keyOf(context);
      return messageFromKey(key, account.plan, await access.limits.allWindowsOf(account));
    },
    async revokeKey(_, context) {
      keepPrivate(context);
      await access.keys.revoke(keyOf(context).key.id);
      return {};
    },
  };

  function keyOf({ values }: Pick<MethodContext, "values">) {
    const account = values.get(accountKey);
    if (account.key === undefined) {
      throw keyRequired(access);
    }
    return { account, key: account.key };
  }

  return { service: KeyService, methods };
}

/** No store on the way may keep the answer. */
function keepPrivate({ values }: Pick<MethodContext, "values">): void {
  values.get(callerKey).answerHeaders.set("cache-control", "no-store");
}
