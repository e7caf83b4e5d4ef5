import { LRUCache } from "lru-cache";
import { refusalKind } from "../errors/catalog.ts";
import { costOfBytes, type KibitzError } from "../errors/errors.ts";
import type { WindowUse } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { errorQuotaExceeded } from "./limit-errors.ts";
import type { RatePolicy } from "./plans.ts";

/** Adds refusals to all refusal windows of a caller. Returns the use of each window, if known. */
type AddRefusals = (
  account: Account,
  refusals: number,
) => Promise<readonly { readonly policy: RatePolicy; readonly use: WindowUse | undefined }[]>;

interface UsedUp {
  readonly policy: RatePolicy;
  /** End of the window, as `performance.now()`. */
  readonly endsAt: number;
}

/** If more callers have used up their error quota, the least recently seen are forgotten until their next error. */
const callersMax = 10_000;

/** Rejects requests unread once the error quota is used up, because an invalid request costs as much as a valid one. */
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

  /** If the store cannot count the refusals, they are lost, but the call is rejected nevertheless. */
  function add(account: Account, refusals: number): void {
    charge(account, refusals).catch(() => {});
  }

  return {
    /** Throws `rate_limited` if the error quota is used up. Reads only memory, so it may be called often. */
    check(account: Account): void {
      const used = usedUp.get(idOf(account));
      const waitMs = used ? used.endsAt - performance.now() : 0;
      if (used && waitMs > 0) {
        throw errorQuotaExceeded(used.policy, waitMs, account.plan);
      }
    },
    /** Counts the error of a call. The bytes are those that were read before the error was found. */
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

/** Counts the cost and the bytes of an error, less one if the caller only came too early, so that a short request is free. */
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
