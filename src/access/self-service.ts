import type { Log } from "../log/log.ts";
import type { IssueQuota } from "../storage/ports.ts";
import { widerNetworkOf } from "./client-address.ts";
import type { IssuedKey, KeyExpiry, KeyIssuer } from "./keys.ts";
import { freePlan } from "./plans.ts";

/** Keys that callers get without the operator. */
export interface SelfService {
  /** Id of the plan of such keys. */
  readonly plan: string;
  /** How many an address may get. */
  readonly quota: IssueQuota;
  issue(wish: SelfServiceWish): Promise<IssuedKey>;
}

interface SelfServiceWish {
  /** Of the caller, as `Access.addressOf` has it. */
  readonly address: string;
  readonly name: string | undefined;
  /** Who wishes again by the same one within a day gets the same key, with a new secret. */
  readonly idempotencyKey: string | undefined;
}

interface SelfServiceOptions {
  readonly issuer: KeyIssuer;
  readonly expiry: KeyExpiry;
  /** Keys that an address may get in 24 hours. */
  readonly keysPerDay: number;
  /** Keys of all callers that may be kept. */
  readonly keysMax: number;
  readonly log: Pick<Log, "warn">;
}

const dayMs = 86_400_000;

/**
 * How many times as many keys as one address a /48 gets: it holds 65,536 networks that each count as an address, and is
 * often one customer's. So it would take years to use up all there are.
 */
const addressesOfNetwork = 10;

export function createSelfService(options: SelfServiceOptions): SelfService {
  const { issuer, expiry, keysPerDay, keysMax, log } = options;
  const quota: IssueQuota = { max: keysPerDay, windowMs: dayMs };
  let isFull = false;
  return {
    plan: freePlan.id,
    quota,
    async issue({ address, name, idempotencyKey }) {
      const wider = widerNetworkOf(address);
      const issued = await issuer.issue({
        name,
        plan: freePlan.id,
        issuedTo: address,
        terms: {
          quota,
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
