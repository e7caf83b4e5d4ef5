import type { Log } from "../log/log.ts";
import { widerNetworkOf } from "./client-address.ts";
import type { IssuedKey, KeyExpiry, KeyIssuer } from "./keys.ts";
import { freePlan } from "./plans.ts";

/** Issues keys to callers, without the operator. */
export interface SelfService {
  /** Id of the plan of its keys. */
  readonly plan: string;
  issue(wish: SelfServiceWish): Promise<IssuedKey>;
}

interface SelfServiceWish {
  /** The caller's address, as `Access.addressOf` returns it. */
  readonly address: string;
  readonly name: string | undefined;
  /** A second request with the same one within a day gets the same key, with a new secret. */
  readonly idempotencyKey: string | undefined;
}

interface SelfServiceOptions {
  readonly issuer: KeyIssuer;
  readonly expiry: KeyExpiry;
  /** Keys that an address may get in 24 hours. */
  readonly keysPerDay: number;
  /** Self-service keys in all. */
  readonly keysMax: number;
  readonly log: Pick<Log, "warn">;
}

const dayMs = 86_400_000;

/**
 * A /48 gets as many keys as so many addresses. It is often one customer's, and holds 65,536 networks that each count as an
 * address: without this limit, one customer could use up all self-service keys.
 */
const addressesOfNetwork = 10;

export function createSelfService(options: SelfServiceOptions): SelfService {
  const { issuer, expiry, keysPerDay, keysMax, log } = options;
  let isFull = false;
  return {
    plan: freePlan.id,
    async issue({ address, name, idempotencyKey }) {
      const wider = widerNetworkOf(address);
      const issued = await issuer.issue({
        name,
        plan: freePlan.id,
        issuedTo: address,
        terms: {
          quota: { max: keysPerDay, windowMs: dayMs },
          network: wider === undefined ? undefined : { name: wider, max: keysPerDay * addressesOfNetwork },
          keptMax: keysMax,
          ended: expiry.endedAtLast(),
          idempotencyKey,
        },
      });
      if (issued.kind === "full" && !isFull) {
        log.warn(
          {},
          "no more keys are issued on request: there are as many as KIBITZ_SELF_SERVICE_KEYS_MAX allows. Raise it, or lower KIBITZ_KEY_EXPIRY_DAYS.",
        );
      }
      isFull = issued.kind === "full" || (isFull && issued.kind !== "issued");
      return issued;
    },
  };
}
