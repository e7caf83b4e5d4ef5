import { LRUCache } from "lru-cache";
import { refusalKind } from "../errors/catalogue.ts";
import { costOfBytes, type KibitzError } from "../errors/errors.ts";
import type { WindowUse } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { errorQuotaExceeded } from "./limit-errors.ts";
import type { RatePolicy } from "./plans.ts";

/** Adds refusals to all refusal windows of a caller. Returns the use of each window, if it is known. */
type AddRefusals = (
  account: Account,
  refusals: number,
) => Promise<readonly { readonly policy: RatePolicy; readonly use: WindowUse | undefined }[]>;

interface UsedUp {
  readonly policy: RatePolicy;
  /** End of the window, as `performance.now()`. */
  readonly endsAt: number;
}

/**
 * The maximum number of callers in memory that have used up their error quota. Beyond it, the least recently seen callers are
 * forgotten until their next error.
 */
const callersMax = 10_000;

/**
 * Counts errors by caller. Finding that a request is invalid costs as much as finding that it is valid. Therefore, if a caller
 * has used up its error quota, its requests are rejected unread until the window ends.
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

  /**
   * Adds refusals to the error quota that a caller has used. If the store cannot count them, they are lost, but the call is
   * rejected nevertheless.
   */
  function add(account: Account, refusals: number): void {
    charge(account, refusals).catch(() => {});
  }

  return {
    /**
     * Checks the error quota in memory, without the store, so it may be called often.
     *
     * @throws KibitzError `rate_limited` if the caller has used up its error quota
     */
    check(account: Account): void {
      const used = usedUp.get(idOf(account));
      const waitMs = used ? used.endsAt - performance.now() : 0;
      if (used && waitMs > 0) {
        throw errorQuotaExceeded(used.policy, waitMs, account.plan);
      }
    },
    /**
     * Counts the error with which a call of the caller ended.
     *
     * @param readBytes number of bytes that were read before the error was found
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
 * Returns the number of refusals that an error counts as: its cost, including the bytes that were read. If the caller only came
 * too early, the error counts one less, so that a short request counts as nothing.
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
