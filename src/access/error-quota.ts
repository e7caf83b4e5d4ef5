import { LRUCache } from "lru-cache";
import { refusalKind } from "../errors/catalogue.ts";
import { costOfBytes, type KibitzError } from "../errors/errors.ts";
import type { WindowUse } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { errorQuotaExceeded } from "./limit-errors.ts";
import type { RatePolicy } from "./plans.ts";

/** Adds refusals to all windows of a caller, and returns how each stands, if that is known. */
type AddRefusals = (
  account: Account,
  refusals: number,
) => Promise<readonly { readonly policy: RatePolicy; readonly use: WindowUse | undefined }[]>;

interface UsedUp {
  readonly policy: RatePolicy;
  /** When the window ends, by `performance.now()`. */
  readonly endsAt: number;
}

/** Callers with a used-up error quota in memory. Beyond it, the least recently seen callers are forgotten until their next error. */
const callersMax = 10_000;

/**
 * Counts errors. Finding out that a request is wrong costs as much as finding out that it is right, so a caller who has used up its
 * error quota is refused unread until the window ends.
 */
export function createErrorQuota(addRefusals: AddRefusals) {
  const usedUp = new LRUCache<string, UsedUp>({ max: callersMax });

  async function charge(account: Account, refusals: number): Promise<void> {
    for (const { policy, use } of await addRefusals(account, refusals)) {
      if (use && use.used >= policy.quota) {
        const endsAt = performance.now() + use.endsInMs;
        const known = usedUp.get(idOf(account))?.endsAt ?? 0;
        if (endsAt > known) {
          usedUp.set(idOf(account), { policy, endsAt });
        }
      }
    }
  }

  /** Adds to the used error quota. If the store cannot count the error, it is not counted: the call is refused all the same. */
  function add(account: Account, refusals: number): void {
    charge(account, refusals).catch(() => {});
  }

  return {
    /** Asks no store, so it may be called often. @throws KibitzError `rate_limited` if the caller has used up its error quota */
    check(account: Account): void {
      const used = usedUp.get(idOf(account));
      const waitMs = used ? used.endsAt - performance.now() : 0;
      if (used && waitMs > 0) {
        throw errorQuotaExceeded(used.policy, waitMs, account.plan);
      }
    },
    /**
     * Counts the error that a call of the caller ended with.
     *
     * @param readBytes how much was read to find the error
     */
    count(account: Account, error: KibitzError, readBytes = 0): void {
      const refusals = refusalsIn(error, readBytes);
      if (refusals > 0) {
        add(account, refusals);
      }
    },
    add,
  };
}

const idOf = ({ subject, plan }: Account) => `${plan.id} ${subject}`;

/**
 * An error counts for what it cost to find, with the reading of the body. If the request would be answered later, it counts one
 * less: a short request that comes too early counts for nothing.
 */
function refusalsIn({ code, cost: ownCost }: KibitzError, readBytes: number): number {
  const cost = Math.max(ownCost, costOfBytes(readBytes));
  switch (refusalKind(code)) {
    case "wrong":
      return cost;
    case "early":
      return cost - 1;
    case "other":
      return 0;
  }
}
