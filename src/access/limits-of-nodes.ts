import { setTimeout as sleep } from "node:timers/promises";
import { type LimitStore, StoreUnavailable, type UsageStore } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { createLimits, createStoreLimits, type Limits } from "./limits.ts";
import { createMemoryLimitStore } from "./memory-limit-store.ts";
import type { Plan } from "./plans.ts";

interface SharedLimitsOptions {
  readonly store: LimitStore;
  /** How many nodes there are, or were when the store could last be asked. */
  nodes(): number;
}

/** Another node that frees a place sends no message, so a caller that waits for one asks again after so many milliseconds. */
const pollMs = 100;

/**
 * Limits that hold over all nodes, in a store that they share. While the store cannot be asked, each node admits its share:
 * what every plan allows, divided by the number of nodes, rounded up. Each of the two holds the places that the other one gave.
 */
export function createSharedLimits({ store, nodes }: SharedLimitsOptions): Limits {
  const memory = createMemoryLimitStore(usageIn(store));
  const shared = createStoreLimits(store, memory);
  const alone = createLimits(memory, store);
  const share = (account: Account): Account => ({ ...account, plan: shareOf(account.plan, nodes()) });

  /** Asks the store, or this node alone if the store is not available. */
  async function askOr<T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    if (store.available) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) {
          throw error;
        }
      }
    }
    return otherwise();
  }

  return {
    enter(account, ...asked) {
      const { concurrent, rates } = account.plan.limits;
      // A plan without limits costs no operation of the store.
      return concurrent === undefined && rates.length === 0
        ? alone.enter(account, ...asked)
        : askOr(
            () => shared.enter(account, ...asked),
            () => alone.enter(share(account), ...asked),
          );
    },
    refusals: {
      spentBy: (account) => shared.refusals.spentBy(account) ?? alone.refusals.spentBy(share(account)),
      count: (account, ...refused) =>
        store.available
          ? shared.refusals.count(account, ...refused)
          : alone.refusals.count(share(account), ...refused),
      add: (account, refusals) =>
        store.available
          ? shared.refusals.add(account, refusals)
          : alone.refusals.add(share(account), refusals),
    },
    windowsOf: (account) =>
      askOr(
        () => shared.windowsOf(account),
        () => alone.windowsOf(share(account)),
      ),
    allWindowsOf: (account) =>
      askOr(
        () => shared.allWindowsOf(account),
        () => alone.allWindowsOf(share(account)),
      ),
    async placeFree(account, signal) {
      if (!store.available) {
        return alone.placeFree(share(account), signal);
      }
      await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    flush: alone.flush,
  };
}

/** Adds the engine time that was used while the store could not be asked: to windows that end by the store's clock. */
function usageIn(store: LimitStore): Pick<UsageStore, "add"> {
  return {
    async add(spent, now) {
      if (!store.available) {
        throw new StoreUnavailable("engine time is added to the store when it is back");
      }
      for (const { rate, subject, engineMs, resetsAt } of spent.filter(({ resetsAt }) => resetsAt > now)) {
        store.addEngineTime({ rate, subject, windowMs: Math.ceil(resetsAt - now) }, engineMs);
      }
    },
  };
}

/** The plan with a node's share of each quota. */
function shareOf(plan: Plan, nodes: number): Plan {
  const share = (quota: number) => Math.ceil(quota / Math.max(1, nodes));
  const { concurrent, rates } = plan.limits;
  return {
    ...plan,
    limits: {
      ...plan.limits,
      concurrent: concurrent === undefined ? undefined : share(concurrent),
      rates: rates.map((rate) => ({ ...rate, quota: share(rate.quota) })),
    },
  };
}
