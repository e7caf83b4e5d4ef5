import { LRUCache } from "lru-cache";
import { refusalKind } from "../errors/catalog.ts";
import { costOfBytes, type KibitzError } from "../errors/errors.ts";
import type { WindowUse } from "../storage/ports.ts";
import { now } from "../time/time.ts";
import type { Account } from "./account.ts";
import { errorQuotaExceeded } from "./limit-errors.ts";
import type { RatePolicy } from "./plans.ts";

/** Adds the cost of an error to each window of the caller's error quota. Resolves with the new state of each window. */
type AddRefusals = (
  account: Account,
  refusals: number,
) => Promise<readonly { readonly policy: RatePolicy; readonly use: WindowUse | undefined }[]>;

interface UsedUp {
  readonly policy: RatePolicy;
  readonly endsAt: number;
}

/** If more callers have used up their quotas, the least recently seen caller is not refused until its next error. */
const callersMax = 10_000;

/** Requests of a caller whose error quota is used up are rejected before their bodies are read. */
export function createErrorQuota(addRefusals: AddRefusals) {
  const usedUp = new LRUCache<string, UsedUp>({ max: callersMax });

  async function charge(account: Account, refusals: number): Promise<void> {
    for (const { policy, use } of await addRefusals(account, refusals)) {
      if (use && use.used >= policy.quota) {
        const endsAt = now() + use.endsInMs;
        const known = usedUp.get(idOf(account))?.endsAt ?? 0;
        if (endsAt > known) {
          usedUp.set(idOf(account), { policy, endsAt });
        }
      }
    }
  }

  /** Does not wait for the store. If the store fails, the errors are not counted. */
  function add(account: Account, refusals: number): void {
    charge(account, refusals).catch(() => {});
  }

  return {
    /** Throws `rate_limited` if the error quota is used up. Reads only memory. */
    check(account: Account): void {
      const used = usedUp.get(idOf(account));
      const waitMs = used ? used.endsAt - now() : 0;
      if (used && waitMs > 0) {
        throw errorQuotaExceeded(used.policy, waitMs, account.plan);
      }
    },
    /** `readBytes`: the bytes of the body that were read before the error was found. */
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

/** If the client must only wait, the error costs one unit less. A short request with such an error costs nothing. */
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
