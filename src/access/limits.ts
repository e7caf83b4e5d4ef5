import type { SearchTime } from "../analysis/expected-time.ts";
import type { MemoryLimitStore } from "../storage/memory/limit-store.ts";
import {
  type AdmissionRequest,
  type LimitStore,
  type QuotaWindow,
  StoreUnavailable,
  type WindowUse,
} from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { createErrorQuota } from "./error-quota.ts";
import { errorFromRefusal, firstFreeMs, type Refusal } from "./limit-errors.ts";
import { type Plan, type RatePolicy, ratesOf, windowOf } from "./plans.ts";
import { type RateWindow, windowFrom } from "./rate-limit-fields.ts";

interface EnterOptions {
  /** How many requests it counts as: none if it is part of a request that was counted. Default: 1. */
  readonly requests?: number;
  /** If the caller has too many searches under way, the request waits for a place until this is aborted. Without it, it is refused. */
  readonly waiting?: AbortSignal | undefined;
}

export type LimitDecision =
  | { readonly kind: "admitted"; readonly admission: Admission; readonly windows: readonly RateWindow[] }
  /** `windows` are the request windows if one of them refuses. */
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly windows: readonly RateWindow[] };

/** An admitted request, until it ends. */
export interface Admission {
  /**
   * The request has ended. Its engine time is counted.
   *
   * @param answered a request that was not answered and took no engine time is given back
   */
  leave(engineMs: number, answered: boolean): void;
  /** Its search has ended, and the request has not: another search may begin. */
  freePlace(): void;
}

/** Limits that hold over all nodes. */
export interface SharedLimitStore {
  readonly store: LimitStore;
  /** How many nodes there are, or were when the store was last available. */
  nodes(): number;
}

export type Limits = ReturnType<typeof createLimits>;

/**
 * Counts what callers use. Requests and searches at a time are counted by caller, engine time by caller and by address:
 * calls with one key from many addresses, or from one address with many keys, do not get more of it.
 *
 * @param memory counts if there is no shared store, and while the shared store is not available: then this node admits its share,
 * which is every quota divided by the number of nodes, rounded up
 */
export function createLimits(memory: MemoryLimitStore, shared?: SharedLimitStore) {
  async function ask<T>(
    account: Account,
    run: (store: LimitStore, account: Account) => Promise<T>,
  ): Promise<T> {
    // A plan without limits costs no operation of the shared store.
    if (shared?.store.available && hasLimits(account.plan)) {
      try {
        return await run(shared.store, account);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) {
          throw error;
        }
      }
    }
    return run(memory, shared ? shareOf(account, shared.nodes()) : account);
  }

  function statesOf(account: Account, units: readonly CountedUnit[]): Promise<readonly RateWindow[]> {
    return ask(account, async (store, counted) => {
      const windows = units.flatMap((unit) => countedWindows(counted, unit));
      const uses = await store.usesOf(windows.map(({ window }) => window));
      const states = Map.groupBy(windowsFrom(windows, uses), ({ policy }) => policy);
      return Array.from(states.values(), tightest);
    });
  }

  return {
    /**
     * Counts a request before an engine is used. A refused request costs nothing. Rejects if it could not be counted.
     *
     * @param time how long its search takes
     */
    enter: (account: Account, time: SearchTime, options?: EnterOptions): Promise<LimitDecision> =>
      ask(account, (store, counted) => enter(store, counted, time, options)),
    errorQuota: createErrorQuota((account, refusals) =>
      ask(account, (store, counted) =>
        Promise.all(
          countedWindows(counted, "refusal").map(async ({ policy, window }) => ({
            policy,
            use: await store.addRefusals(window, refusals),
          })),
        ),
      ),
    ),
    /** Checks if the caller could make any request now. @throws KibitzError `rate_limited`, `quota_exhausted` */
    async refuseUsedUp(account: Account): Promise<void> {
      const states = await statesOf(account, ["request", "engine_ms"]);
      const usedUp = states.filter(({ remaining }) => remaining === 0);
      if (usedUp.length > 0) {
        throw errorFromRefusal(refusalBy(usedUp), account);
      }
    },
    /** The request windows of a caller. */
    windowsOf: (account: Account) => statesOf(account, ["request"]),
    /** All windows of a caller. Of engine time, the window of the caller or of the address, whichever has less left. */
    allWindowsOf: (account: Account) => statesOf(account, ["request", "engine_ms", "refusal"]),
    /** Stores the engine time that was used since the last time. If that fails, it is stored the next time. */
    flush: memory.flush,
  };
}

async function enter(
  store: LimitStore,
  account: Account,
  time: SearchTime,
  { requests = 1, waiting }: EnterOptions = {},
): Promise<LimitDecision> {
  const { subject, plan } = account;
  const { concurrent } = plan.limits;
  const engineTime = countedWindows(account, "engine_ms");
  const taken = requests > 0 ? countedWindows(account, "request") : [];
  const asked: AdmissionRequest = {
    subject,
    concurrent,
    expectedMs: upperTime(time),
    engineTime: engineTime.map(({ window }) => window),
    requests: taken.map(({ window }) => window),
    count: requests,
  };
  for (;;) {
    const answer = await store.enter(asked);
    switch (answer.kind) {
      case "busy": {
        const quota = concurrent ?? 0;
        if (waiting) {
          await store.placeFree(subject, quota, waiting);
          break;
        }
        const retryAfterMs = firstFreeMs(answer.running);
        const refusal = { code: "concurrency_limited", limit: "concurrent", quota, retryAfterMs } as const;
        return { kind: "refused", refusal, windows: [] };
      }
      case "exhausted": {
        const usedUp = windowsFrom(engineTime, answer.engineTime).filter(({ remaining }) => remaining === 0);
        return { kind: "refused", refusal: refusalBy(usedUp), windows: [] };
      }
      case "full": {
        const windows = windowsFrom(taken, answer.requests);
        const full = windows.filter(({ remaining }) => remaining < requests);
        return { kind: "refused", refusal: refusalBy(full), windows };
      }
      case "admitted": {
        const { place, requests: uses } = answer;
        const admission: Admission = {
          leave: (engineMs, answered) => place.leave(engineMs, engineMs <= 0 && !answered),
          freePlace: place.free,
        };
        return { kind: "admitted", admission, windows: windowsFrom(taken, uses) };
      }
    }
  }
}

/** How much longer than its own limit a search can take before the watchdog ends it. */
const watchdogMs = 1500;
/** Many searches take longer than expected, few twice as long. */
const generosity = 2;

/** Milliseconds that hardly any search exceeds. */
function upperTime({ expectedMs, longestMs }: SearchTime): number {
  return Math.min(expectedMs * generosity, longestMs + watchdogMs);
}

/** Calls that are not analyses are counted elsewhere. */
type CountedUnit = Exclude<RatePolicy["unit"], "call">;

interface CountedWindow {
  readonly policy: RatePolicy;
  readonly window: QuotaWindow;
}

/** The windows in which a caller counts: of engine time by caller and by address, else by caller. */
function countedWindows({ plan, subject, address }: Account, unit: CountedUnit): readonly CountedWindow[] {
  const subjects = unit === "engine_ms" ? [...new Set([subject, address])] : [subject];
  return ratesOf(plan, unit).flatMap((policy) =>
    subjects.map((counted) => ({ policy, window: windowOf(plan, policy, counted) })),
  );
}

function windowsFrom(windows: readonly CountedWindow[], uses: readonly WindowUse[]): readonly RateWindow[] {
  return windows.map(({ policy }, index) => windowFrom(policy, uses[index] as WindowUse));
}

/** The window with the least left; among equal ones, the one that ends last. */
function tightest(windows: readonly RateWindow[]): RateWindow {
  const [first] = windows.toSorted((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs);
  return first as RateWindow;
}

/** If several windows refuse a caller, it has to wait for the last one. @param windows at least one */
function refusalBy(windows: readonly RateWindow[]): Refusal {
  const [last] = windows.toSorted((a, b) => b.resetMs - a.resetMs);
  const { policy, resetMs } = last as RateWindow;
  const code = policy.unit === "request" ? "rate_limited" : "quota_exhausted";
  return { code, limit: policy.name, quota: policy.quota, retryAfterMs: resetMs };
}

function hasLimits({ limits: { concurrent, rates } }: Plan): boolean {
  return concurrent !== undefined || rates.length > 0;
}

function shareOf(account: Account, nodes: number): Account {
  const { plan } = account;
  const share = (quota: number) => Math.ceil(quota / Math.max(1, nodes));
  const { concurrent, rates } = plan.limits;
  const limits = {
    ...plan.limits,
    concurrent: concurrent === undefined ? undefined : share(concurrent),
    rates: rates.map((rate) => ({ ...rate, quota: share(rate.quota) })),
  };
  return { ...account, plan: { ...plan, limits } };
}
