import { LRUCache } from "lru-cache";
import { refusalKind } from "../errors/catalogue.ts";
import { costOfBytes, type KibitzError } from "../errors/errors.ts";
import type { LimitStore } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { type RatePolicy, ratesOf, windowOf } from "./plans.ts";

/**
 * The error quota. Finding out that a request is wrong costs as much as finding out that it is right, so a caller who was
 * refused too often is refused unread until the window ends.
 */
export interface Refusals {
  /** The error quota that the caller has used up; undefined while some is left. Cheap: it asks no store. */
  spentBy(account: Account): SpentQuota | undefined;
  /**
   * Counts the error that a call of the caller ended with.
   *
   * @param readBytes how much was read to find the error
   */
  count(account: Account, error: KibitzError, readBytes?: number): void;
  /** Adds to the used error quota. */
  add(account: Account, refusals: number): void;
}

interface SpentQuota {
  readonly limit: string;
  readonly quota: number;
  /** Milliseconds until the window ends. */
  readonly retryAfterMs: number;
}

/** Callers with a used-up error quota in memory. Beyond it, callers who asked longest ago are counted anew. */
const spentMax = 10_000;

export function createRefusals(store: Pick<LimitStore, "addRefusals">): Refusals {
  /** Until their windows end. Retry-After is exact, so the time has no resolution. */
  const spent = new LRUCache<string, RatePolicy>({ max: spentMax, ttlResolution: 0 });
  const idOf = ({ subject, plan }: Account, { name }: RatePolicy) => `${plan.id}/${name} ${subject}`;

  async function charge(account: Account, policy: RatePolicy, refusals: number): Promise<void> {
    const use = await store.addRefusals(windowOf(account.plan, policy, account.subject), refusals);
    if (use && use.used >= policy.quota && use.endsInMs > 0) {
      spent.set(idOf(account, policy), policy, { ttl: use.endsInMs });
    }
  }

  const refused: Refusals = {
    spentBy(account) {
      let last: SpentQuota | undefined;
      for (const policy of spent.size === 0 ? [] : ratesOf(account.plan, "refusal")) {
        const id = idOf(account, policy);
        const retryAfterMs = spent.has(id) ? spent.getRemainingTTL(id) : 0;
        if (retryAfterMs > (last?.retryAfterMs ?? 0)) {
          last = { limit: policy.name, quota: policy.quota, retryAfterMs };
        }
      }
      return last;
    },
    count(account, error, readBytes = 0) {
      const refusals = refusalsIn(error, readBytes);
      if (refusals > 0) {
        refused.add(account, refusals);
      }
    },
    add(account, refusals) {
      for (const policy of ratesOf(account.plan, "refusal")) {
        // If the store cannot count it, it is not counted. The call is refused all the same.
        charge(account, policy, refusals).catch(() => {});
      }
    },
  };
  return refused;
}

/**
 * A refusal counts for what it cost to find, with the reading of the body. If the request would be answered later, it counts one
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
