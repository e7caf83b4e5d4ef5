import { setTimeout as sleep } from "node:timers/promises";
import { restMs } from "../analysis/expected-time.ts";
import {
  type EntryAnswer,
  type LimitStore,
  type QuotaWindow,
  StoreUnavailable,
  type UnitWindow,
  type UsageStore,
  type WindowUse,
} from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { createInFlight, createRefusals, nameOf, type RateWindow, type Refusals } from "./counters.ts";
import {
  type Admission,
  createNewLimits,
  type Entry,
  type Limits,
  later,
  type Refusal,
  refusalOf,
  upperTime,
} from "./limits.ts";
import { type Plan, type RatePolicy, withoutConcurrent } from "./plans.ts";

interface SharedLimitsOptions {
  readonly plans: readonly Plan[];
  readonly store: LimitStore;
  /** How many nodes there are, or were when the store could be asked. */
  nodes(): number;
}

/** Between two looks whether another node has a place no more, in milliseconds. */
const lookMs = 100;

/**
 * Limits that hold over all nodes, in a store that they share. While it cannot be asked, each node lets in its share by
 * itself: what every plan allows, divided by the nodes that there were, rounded up.
 */
export function createSharedLimits(options: SharedLimitsOptions): Limits {
  const { plans, store } = options;
  const inFlight = createInFlight();
  /** By the number of nodes. Kept, so that a store that comes and goes does not give everybody a new share each time. */
  const alone = new Map<number, Alone>();

  function here(): Alone {
    const nodes = Math.max(1, options.nodes());
    const known = alone.get(nodes);
    if (known) {
      return known;
    }
    const shares = new Map(plans.map((plan) => [plan.id, shareOf(plan, nodes)]));
    const limits = createNewLimits({
      plans: [...shares.values()],
      usage: usageIn(store),
      inFlight,
    });
    const fresh: Alone = {
      limits,
      share(account) {
        const plan = shares.get(account.plan.id) ?? account.plan;
        // Where it was taken out of the plan, as for what is no search, its share is none either.
        const isBounded = account.plan.limits.concurrent !== undefined;
        return { ...account, plan: isBounded ? plan : withoutConcurrent(plan) };
      },
    };
    alone.set(nodes, fresh);
    return fresh;
  }

  async function enterAlone(
    account: Account,
    time: Parameters<Limits["enter"]>[1],
    requests: number,
  ): Promise<Entry> {
    const { limits, share } = here();
    const entry = await limits.enter(share(account), time, requests);
    if (entry.kind === "refused" || account.plan.limits.concurrent === undefined) {
      return entry;
    }
    const place = store.hold(account.subject, upperTime(time));
    const { leave, freePlace } = entry.admission;
    const admission: Admission = {
      leave(...ended) {
        place[Symbol.dispose]();
        leave(...ended);
      },
      freePlace() {
        place[Symbol.dispose]();
        freePlace();
      },
    };
    return { ...entry, admission };
  }

  /** What the store says, or what this node says alone where it cannot be asked. */
  async function askOr<T>(ask: () => Promise<T>, otherwise: (here: Alone) => T | Promise<T>): Promise<T> {
    if (store.available) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) {
          throw error;
        }
      }
    }
    return otherwise(here());
  }

  const refusals = createSharedRefusals(store, here);
  const standing = async (account: Account, policies: readonly RatePolicy[]) => {
    const windows = policies.map((policy) => unitWindowsOf(account, policy));
    const uses = await store.standing(windows.flat());
    let next = 0;
    return policies.map((policy, index) => {
      const own = uses.slice(next, next + (windows[index]?.length ?? 0));
      next += own.length;
      return tightest(policy, own);
    });
  };

  return {
    async enter(account, time, requests = 1) {
      const { concurrent } = account.plan.limits;
      const engineTime = ratesOf(account, "engine_ms");
      const taken = requests > 0 ? ratesOf(account, "request") : [];
      if (concurrent === undefined && engineTime.length === 0 && taken.length === 0) {
        return here().limits.enter(account, time, requests);
      }
      const asked = {
        subject: account.subject,
        concurrent,
        expectedMs: upperTime(time),
        engineTime: engineTime.flatMap((policy) => quotaWindowsOf(account, policy)),
        requests: taken.flatMap((policy) => quotaWindowsOf(account, policy)),
        count: requests,
      };
      return askOr(
        async () => {
          const answer = await store.enter(asked);
          if (answer.kind !== "in") {
            return { kind: "refused", refusal: refusalFrom(answer, account, asked.engineTime, requests) };
          }
          const { place, requests: uses } = answer;
          const own =
            concurrent === undefined
              ? undefined
              : inFlight.enter(account.subject, Number.POSITIVE_INFINITY, asked.expectedMs);
          const freePlace = () => {
            own?.[Symbol.dispose]();
            place[Symbol.dispose]();
          };
          const leave: Admission["leave"] = (engineMs, answered) => {
            freePlace();
            if (engineMs > 0) {
              for (const window of asked.engineTime) {
                store.addEngineTime(window, engineMs);
              }
            } else if (!answered) {
              place.giveBack();
            }
          };
          const windows = taken.map((policy, index) => tightest(policy, uses.slice(index, index + 1)));
          return { kind: "admitted", admission: { leave, freePlace }, windows };
        },
        () => enterAlone(account, time, requests),
      );
    },
    refusals,
    windowsOf: (account) =>
      askOr(
        () => standing(account, ratesOf(account, "request")),
        ({ limits, share }) => limits.windowsOf(share(account)),
      ),
    allWindowsOf: (account) =>
      askOr(
        () =>
          standing(account, [
            ...ratesOf(account, "request"),
            ...ratesOf(account, "engine_ms"),
            ...ratesOf(account, "refusal"),
          ]),
        ({ limits, share }) => limits.allWindowsOf(share(account)),
      ),
    async placeFree(account, signal) {
      const { limits, share } = here();
      if (!store.available) {
        return limits.placeFree(share(account), signal);
      }
      // It may be freed on another node, which tells nobody.
      await sleep(lookMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    async flush() {
      await Promise.all([...alone.values()].map(({ limits }) => limits.flush()));
    },
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

/** What a node lets in by itself. */
interface Alone {
  readonly limits: Limits;
  /** The account with its share of its plan. */
  share(account: Account): Account;
}

function shareOf(plan: Plan, nodes: number): Plan {
  const { concurrent, rates } = plan.limits;
  const share = (quota: number) => Math.ceil(quota / nodes);
  return {
    ...plan,
    limits: {
      ...plan.limits,
      concurrent: concurrent === undefined ? undefined : share(concurrent),
      rates: rates.map((rate) => ({ ...rate, quota: share(rate.quota) })),
    },
  };
}

/** Refusals are counted in the store; who has spent their budget is known here, from what the store said last. */
function createSharedRefusals(store: LimitStore, here: () => Alone): Refusals {
  const shared = createRefusals((account) =>
    ratesOf(account, "refusal").map((policy) => ({
      name: nameOf(account.plan.id, policy),
      policy,
      add: (subject, refusals) => {
        const rate = nameOf(account.plan.id, policy);
        return store.addRefusals({ rate, subject, windowMs: policy.windowS * 1000 }, refusals);
      },
    })),
  );
  return {
    spentBy(account) {
      if (account.plan.limits.rates.length === 0) {
        return undefined;
      }
      const { limits, share } = here();
      return shared.spentBy(account) ?? limits.refusals.spentBy(share(account));
    },
    count(account, ...refused) {
      if (store.available) {
        shared.count(account, ...refused);
      } else {
        const { limits, share } = here();
        limits.refusals.count(share(account), ...refused);
      }
    },
    add(account, refusals) {
      if (store.available) {
        shared.add(account, refusals);
      } else {
        const { limits, share } = here();
        limits.refusals.add(share(account), refusals);
      }
    },
  };
}

function ratesOf({ plan }: Account, unit: RatePolicy["unit"]): readonly RatePolicy[] {
  return plan.limits.rates.filter((rate) => rate.unit === unit);
}

/** Engine time is counted by caller and by address, the rest by caller. */
function quotaWindowsOf({ plan, subject, address }: Account, policy: RatePolicy): readonly QuotaWindow[] {
  const subjects = policy.unit === "engine_ms" ? new Set([subject, address]) : [subject];
  const rate = nameOf(plan.id, policy);
  return [...subjects].map((counted) => ({
    rate,
    subject: counted,
    quota: policy.quota,
    windowMs: policy.windowS * 1000,
  }));
}

function unitWindowsOf(account: Account, policy: RatePolicy): readonly UnitWindow[] {
  const { unit } = policy;
  // Calls that are not analyses are counted on each node.
  return unit === "call" ? [] : quotaWindowsOf(account, policy).map((window) => ({ ...window, unit }));
}

/** Of windows of one rate, that with less left; of equal ones the one that ends later. */
function tightest(policy: RatePolicy, uses: readonly WindowUse[]): RateWindow {
  return uses
    .map(({ used, endsInMs }) => ({
      policy,
      remaining: Math.max(0, policy.quota - used),
      resetMs: endsInMs,
    }))
    .reduce((one, other) =>
      other.remaining < one.remaining || (other.remaining === one.remaining && other.resetMs > one.resetMs)
        ? other
        : one,
    );
}

function refusalFrom(
  answer: Exclude<EntryAnswer, { readonly kind: "in" }>,
  account: Account,
  engineTime: readonly QuotaWindow[],
  count: number,
): Refusal {
  switch (answer.kind) {
    case "busy": {
      const rests = answer.running.map(({ expectedMs, elapsedMs }) => restMs(expectedMs, elapsedMs));
      const retryAfterMs = rests.length === 0 ? 0 : Math.min(...rests);
      const quota = account.plan.limits.concurrent ?? 0;
      return { code: "concurrency_limited", limit: "concurrent", quota, retryAfterMs };
    }
    case "spent":
      return lastOf(
        ratesOf(account, "engine_ms").flatMap((policy) =>
          engineTime.flatMap(({ rate, quota }, index) => {
            const use = answer.engineTime[index];
            const isSpent = rate === nameOf(account.plan.id, policy) && use && use.used >= quota;
            return isSpent ? [{ ...refusalOf("quota_exhausted", policy), retryAfterMs: use.endsInMs }] : [];
          }),
        ),
      );
    case "full":
      return lastOf(
        ratesOf(account, "request").flatMap((policy, index) => {
          const use = answer.requests[index];
          const isFull = use && use.used + count > policy.quota;
          return isFull ? [{ ...refusalOf("rate_limited", policy), retryAfterMs: use.endsInMs }] : [];
        }),
      );
  }
}

/** @throws TypeError where there is none: the store has refused for what it counts otherwise. */
function lastOf(refusals: readonly Refusal[]): Refusal {
  const last = refusals.reduce<Refusal | undefined>(later, undefined);
  if (last === undefined) {
    throw new TypeError("a request was refused for a window that is not used up");
  }
  return last;
}
