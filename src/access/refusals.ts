import { LRUCache } from "lru-cache";
import { refusalKind } from "../errors/catalogue.ts";
import { costOfBytes, type KibitzError } from "../errors/errors.ts";
import type { Account } from "./account.ts";
import { type Counter, untilEndMs } from "./counters.ts";

/**
 * The budget of refusals: to find out what is wrong with a request costs as much as to find out that nothing is, so
 * whoever has been refused too often is refused unread until the window ends.
 */
export interface Refusals {
  /** The budget that the caller has spent; undefined while there is some left. Costs next to nothing. */
  spentBy(account: Account): SpentBudget | undefined;
  /**
   * Counts what a call of the caller ended with.
   *
   * @param readBytes how much had to be read to find it.
   */
  count(account: Account, error: KibitzError, readBytes?: number): void;
}

export interface SpentBudget {
  readonly limit: string;
  readonly quota: number;
  /** Until it is there again. */
  readonly retryAfterMs: number;
}

/** Callers with a spent budget that are known at a time; beyond that, those who asked longest ago are counted anew. */
const spentMax = 10_000;

export function createRefusals(countersOf: (account: Account) => readonly Counter[]): Refusals {
  // Callers by the budget that they have spent, until its window ends.
  const spent = new LRUCache<string, Counter>({
    max: spentMax,
    // Retry-After is exact.
    ttlResolution: 0,
  });
  const idOf = ({ name }: Counter, { subject }: Account) => `${name} ${subject}`;

  async function charge(counter: Counter, account: Account, refusals: number): Promise<void> {
    const { policy, limiter } = counter;
    const result = await limiter.penalty(account.subject, refusals);
    const endsInMs = untilEndMs(policy, result);
    if (result.consumedPoints >= policy.quota && endsInMs > 0) {
      spent.set(idOf(counter, account), counter, { ttl: endsInMs });
    }
  }

  return {
    spentBy(account) {
      if (spent.size === 0) {
        return undefined;
      }
      let budget: SpentBudget | undefined;
      for (const counter of countersOf(account)) {
        const id = idOf(counter, account);
        const retryAfterMs = spent.has(id) ? spent.getRemainingTTL(id) : 0;
        if (retryAfterMs > (budget?.retryAfterMs ?? 0)) {
          budget = { limit: counter.policy.name, quota: counter.policy.quota, retryAfterMs };
        }
      }
      return budget;
    },
    count(account, error, readBytes = 0) {
      const refusals = refusalsIn(error, readBytes);
      if (refusals === 0) {
        return;
      }
      for (const counter of countersOf(account)) {
        // What the counter cannot count is not counted: the call is refused all the same.
        charge(counter, account, refusals).catch(() => {});
      }
    },
  };
}

/**
 * What is wrong with a request counts for as much as it was dear to find. One that would be answered later counts for
 * nothing, unless it was dear: its caller may only be early.
 */
function refusalsIn({ code, cost }: KibitzError, readBytes: number): number {
  switch (refusalKind(code)) {
    case "wrong":
      return Math.max(cost, costOfBytes(readBytes));
    case "early":
      return cost - 1;
    case "other":
      return 0;
  }
}
