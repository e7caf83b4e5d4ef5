import type { SearchTime } from "../analysis/expected-time.ts";
import type { EntryAsked, LimitStore, QuotaWindow, UsageStore, WindowUse } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { createMemoryLimitStore, type MemoryLimitStore } from "./memory-limit-store.ts";
import { firstFreeMs } from "./places.ts";
import { nameOf, type Plan, type RatePolicy, ratesOf, windowOf } from "./plans.ts";
import { type RateWindow, windowFrom } from "./rate-limit-fields.ts";
import { createRefusals, type Refusals } from "./refusals.ts";

/**
 * Counts what callers use. Requests and searches at a time are counted by caller, engine time by caller and by address:
 * calls with one key from many addresses, or from one address with many keys, do not get more of it.
 */
export interface Limits {
  /**
   * Counts a request, before an engine is used. A refused request costs nothing. Rejects if it could not be counted.
   *
   * @param time how long its search takes
   * @param requests how many requests it counts as: none if it is part of one that was counted
   */
  enter(account: Account, time: SearchTime, requests?: number): Promise<LimitDecision>;
  readonly refusals: Refusals;
  /** How the request windows of a caller stand. */
  windowsOf(account: Account): Promise<readonly RateWindow[]>;
  /** How all windows of a caller stand. Of engine time it is that of the caller or of the address, whichever has less left. */
  allWindowsOf(account: Account): Promise<readonly RateWindow[]>;
  /** Resolves when the caller may have one more search under way. Rejects with the reason of `signal`. */
  placeFree(account: Account, signal: AbortSignal): Promise<void>;
  /** Writes the engine time that was used since the last time. If that fails, it is kept for the next time. */
  flush(): Promise<void>;
}

export type LimitDecision =
  | { readonly kind: "admitted"; readonly admission: Admission; readonly windows: readonly RateWindow[] }
  | { readonly kind: "refused"; readonly refusal: Refusal };

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

export interface Refusal {
  readonly code: "rate_limited" | "quota_exhausted" | "concurrency_limited";
  /** The name of the exceeded limit, such as `minute`, and its number. */
  readonly limit: string;
  readonly quota: number;
  /** When the same request would be admitted: exact for windows, an estimate for searches at a time. */
  readonly retryAfterMs: number;
}

/** How much longer than its own limit a search can take before the watchdog ends it. */
const watchdogMs = 1500;
/** Many searches take longer than expected, few twice as long. */
const generosity = 2;

/** Milliseconds that hardly any search exceeds. */
function upperTime({ expectedMs, longestMs }: SearchTime): number {
  return Math.min(expectedMs * generosity, longestMs + watchdogMs);
}

/** The limits of one process. They begin with the engine time that an earlier process has kept in `usage`. */
export async function createMemoryLimits(plans: readonly Plan[], usage: UsageStore): Promise<Limits> {
  const store = createMemoryLimitStore(usage);
  const lengths = plans.flatMap(({ id, limits }) =>
    limits.rates.map((rate) => [nameOf(id, rate), rate.windowS * 1000] as const),
  );
  store.restore(await usage.current(Date.now()), new Map(lengths));
  return createLimits(store);
}

/** Limits that a store in this process counts. @param other holds the places, too */
export function createLimits(store: MemoryLimitStore, other?: Pick<LimitStore, "hold">): Limits {
  return {
    ...createStoreLimits(store, other),
    placeFree: ({ subject, plan }, signal) =>
      store.placeFree(subject, plan.limits.concurrent ?? Number.POSITIVE_INFINITY, signal),
    flush: store.flush,
  };
}

/** Limits that any store counts. @param other holds the places of searches, too, for when it has to decide */
export function createStoreLimits(
  store: LimitStore,
  other?: Pick<LimitStore, "hold">,
): Omit<Limits, "placeFree" | "flush"> {
  async function standing(account: Account, units: readonly CountedUnit[]): Promise<readonly RateWindow[]> {
    const rates = units.flatMap((unit) => ratesOf(account.plan, unit).map((policy) => ({ unit, policy })));
    const windows = rates.map(({ unit, policy }) =>
      countedWindows(account, policy).map((window) => ({ ...window, unit })),
    );
    const uses = (await store.standing(windows.flat())).values();
    return rates.map(({ policy }, index) =>
      tightest(
        policy,
        Array.from(windows[index] ?? [], () => uses.next().value as WindowUse),
      ),
    );
  }

  return {
    async enter(account, time, requests = 1) {
      const { subject, plan } = account;
      const { concurrent } = plan.limits;
      const engineTime = ratesOf(plan, "engine_ms");
      const taken = requests > 0 ? ratesOf(plan, "request") : [];
      const asked: EntryAsked = {
        subject,
        concurrent,
        expectedMs: upperTime(time),
        engineTime: engineTime.flatMap((policy) => countedWindows(account, policy)),
        requests: taken.flatMap((policy) => countedWindows(account, policy)),
        count: requests,
      };
      const answer = await store.enter(asked);
      switch (answer.kind) {
        case "busy": {
          const refusal = {
            code: "concurrency_limited",
            limit: "concurrent",
            quota: concurrent ?? 0,
          } as const;
          return { kind: "refused", refusal: { ...refusal, retryAfterMs: firstFreeMs(answer.running) } };
        }
        case "spent": {
          const policies = engineTime.flatMap((policy) => countedWindows(account, policy).map(() => policy));
          return refused("quota_exhausted", policies, answer.engineTime, 0);
        }
        case "full":
          return refused("rate_limited", taken, answer.requests, requests);
        case "in": {
          const { place, requests: uses } = answer;
          const held = concurrent === undefined ? undefined : other?.hold(subject, asked.expectedMs);
          const freePlace = () => {
            held?.[Symbol.dispose]();
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
          const windows = taken.map((policy, index) => windowFrom(policy, uses[index] as WindowUse));
          return { kind: "admitted", admission: { leave, freePlace }, windows };
        }
      }
    },
    refusals: createRefusals(store),
    windowsOf: (account) => standing(account, ["request"]),
    allWindowsOf: (account) => standing(account, ["request", "engine_ms", "refusal"]),
  };
}

/** Calls that are not analyses are counted apart. */
type CountedUnit = Exclude<RatePolicy["unit"], "call">;

/** The windows of a rate: of engine time by caller and by address, else by caller. */
function countedWindows({ plan, subject, address }: Account, policy: RatePolicy): readonly QuotaWindow[] {
  const subjects = policy.unit === "engine_ms" ? new Set([subject, address]) : [subject];
  return Array.from(subjects, (counted) => windowOf(plan, policy, counted));
}

/** Returns the window of a rate with the least left; among equal ones, the one that ends last. */
function tightest(policy: RatePolicy, uses: readonly WindowUse[]): RateWindow {
  const [first, ...others] = uses.map((use) => windowFrom(policy, use));
  return others.reduce((least, next) => {
    const isTighter =
      next.remaining < least.remaining ||
      (next.remaining === least.remaining && next.resetMs > least.resetMs);
    return isTighter ? next : least;
  }, first as RateWindow);
}

/** A caller that several windows refuse has to wait for the last one. @param count of the requests that need room */
function refused(
  code: Refusal["code"],
  policies: readonly RatePolicy[],
  uses: readonly WindowUse[],
  count: number,
): LimitDecision {
  const refusals = policies.flatMap(({ name, quota }, index) => {
    const { used, endsInMs } = uses[index] as WindowUse;
    return used >= quota || used + count > quota
      ? [{ code, limit: name, quota, retryAfterMs: endsInMs }]
      : [];
  });
  const [refusal] = refusals.toSorted((one, other) => other.retryAfterMs - one.retryAfterMs);
  if (refusal === undefined) {
    throw new TypeError("a request was refused for a window that is not used up");
  }
  return { kind: "refused", refusal };
}
