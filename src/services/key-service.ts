import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import type { Access } from "../access/access.ts";
import { keyRequired } from "../access/admit-call.ts";
import type { TooManyKeys, TooManyRenewals } from "../access/key-issuer.ts";
import type { Call, Implementation } from "../calls/call.ts";
import { messageFromKey, messageFromNewKey } from "../calls/convert-access.ts";
import { KibitzError, refuseViolations } from "../errors/errors.ts";
import { durationText } from "../text/duration-text.ts";
import { holdsKey } from "../text/keys-in-text.ts";

export function createKeyService(access: Access): Implementation<typeof KeyService> {
  const methods: Implementation<typeof KeyService>["methods"] = {
    async createKey({ name, idempotencyKey }, call) {
      keepPrivate(call);
      const { selfService } = access;
      if (selfService === undefined) {
        throw new KibitzError(
          "self_service_disabled",
          "This service does not issue keys on request. Ask its operator for one.",
        );
      }
      refuseSecrets({ name, idempotency_key: idempotencyKey });
      const { address } = call.account;
      const issued = await selfService.issue({ address, name, idempotencyKey });
      switch (issued.kind) {
        case "issued":
          return messageFromNewKey(issued.record, issued.key);
        case "too_many":
          throw tooMany(issued);
        case "too_many_renewals":
          throw tooManyRenewals(issued);
        case "full":
          throw new KibitzError(
            "self_service_disabled",
            "This service has issued as many keys as it may, and issues no more on request. Ask its operator for one.",
          );
      }
    },
    async getKey(_, call) {
      keepPrivate(call);
      const { account, key } = keyOf(call);
      return messageFromKey(key, account.plan, await access.limits.allWindowsOf(account));
    },
    async revokeKey(_, call) {
      keepPrivate(call);
      await access.keys.revoke(keyOf(call).key.id);
      return {};
    },
  };

  function keyOf({ account }: Call) {
    if (account.key === undefined) {
      throw keyRequired(access);
    }
    return { account, key: account.key };
  }

  return { service: KeyService, methods };
}

/** Throws a KibitzError if a text contains an API key, because the texts are stored unchanged. */
function refuseSecrets(texts: Readonly<Record<string, string | undefined>>): void {
  const violations = Object.entries(texts)
    .filter(([, text]) => text !== undefined && holdsKey(text))
    .map(([field]) => {
      const message = `\`${field}\` contains an API key, and such texts are stored as they are.`;
      return { pointer: `/${field}`, code: "invalid_type", message } as const;
    });
  refuseViolations(violations);
}

function tooMany({ of, max, waitMs }: TooManyKeys): KibitzError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const who = of === "address" ? "This address" : "The network (/48) of this address";
  return new KibitzError(
    "rate_limited",
    `${who} has reached its limit of ${max} ${max === 1 ? "key" : "keys"} in 24 hours. Try again in ${durationText(seconds)}. The operator of this service can create more keys with \`kibitz keys create\`.`,
    { retryAfterMs: seconds * 1000, quota: "keys-per-day" },
  );
}

function tooManyRenewals({ max, waitMs }: TooManyRenewals): KibitzError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new KibitzError(
    "rate_limited",
    `This address has repeated an idempotency_key ${max} times in a minute, its limit. Try again in ${durationText(seconds)}, and keep the key of the last answer.`,
    { retryAfterMs: seconds * 1000, quota: "key-renewals" },
  );
}

function keepPrivate({ outcome }: Call): void {
  outcome.answerHeaders.set("cache-control", "no-store");
}
