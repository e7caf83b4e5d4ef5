import type { SearchTime } from "../analysis/expected-time.ts";
import type { MemoryLimitStore } from "../storage/memory/limit-store.ts";
import {
  type EnterRequest,
  type LimitStore,
  type QuotaWindow,
  type SearchPlace,
  StoreUnavailable,
  type WindowUse,
} from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { createErrorQuota } from "./error-quota.ts";
import {
  errorFromRefusal,
  firstFreeMs,
  type LimitError,
  type OfferKey,
  offerNothing,
  type Refusal,
} from "./limit-errors.ts";
import { type Plan, type RatePolicy, ratesOf, windowOf } from "./plans.ts";
import { type RateWindow, windowFrom } from "./rate-limit-fields.ts";

interface EnterOptions {
  /** The number of requests to count. Default: 1. Use 0 if the request is already counted. */
  readonly requests?: number;
  /**
   * If the caller has too many concurrent searches, the request waits until a search ends or this signal aborts.
   * Without a signal, the request is rejected instead.
   */
  readonly waiting?: AbortSignal | undefined;
  /** Called at once when the request has entered. Call `leave` at its end, even if `enter` rejects afterwards. */
  readonly onEntered?: (entered: EnteredRequest) => void;
}

export type LimitDecision =
  | { readonly kind: "entered"; readonly entered: EnteredRequest; readonly windows: readonly RateWindow[] }
  | RefusedDecision;

interface RefusedDecision {
  readonly kind: "refused";
  readonly refusal: Refusal;
  /** Empty if the number of concurrent searches exceeds its limit, or if the request was already counted. */
  readonly windows: readonly RateWindow[];
}

export interface EnteredRequest {
  /** Call this when the request ends. A request without a response and without engine time is not counted. */
  leave(engineMs: number, answered: boolean): void;
  /** Call this when a search has ended, so that the caller can start another search. */
  freePlace(): void;
}

export interface SharedLimitStore {
  readonly store: LimitStore;
  /** Returns the number of nodes that share the store. While the store is unavailable, returns the last known number. */
  nodes(): number;
}

export type Limits = ReturnType<typeof createLimits>;

/**
 * Engine time is counted by caller and by address, so that many keys or addresses give no additional engine time.
 * While the shared store is unavailable, each node counts in `memory` and divides each quota by the number of nodes.
 */
export function createLimits(
  memory: MemoryLimitStore,
  shared?: SharedLimitStore,
  offerKey: OfferKey = offerNothing,
) {
  async function ask<T>(
    account: Account,
    run: (store: LimitStore, account: Account) => Promise<T>,
  ): Promise<T> {
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
      return tightestOfEach(windowsFrom(windows, uses));
    });
  }

  /** Returns undefined if none of these windows is used up. */
  function usedUpError(account: Account, windows: readonly RateWindow[]): LimitError | undefined {
    const usedUp = windows.filter(({ remaining }) => remaining === 0);
    return usedUp.length > 0
      ? errorFromRefusal(refusalBy(usedUp), { account, windows, offerKey })
      : undefined;
  }

  return {
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
    /** Throws `rate_limited` or `quota_exhausted` if a window of the caller is used up. */
    async refuseUsedUp(account: Account): Promise<void> {
      const error = usedUpError(account, await statesOf(account, ["request", "engine_ms"]));
      if (error) {
        throw error;
      }
    },
    usedUpError,
    /** @param requests the number of requests that the refused request counts for */
    errorFrom({ refusal, windows }: RefusedDecision, account: Account, requests = 1): LimitError {
      const read = windows.length > 0 ? windows : undefined;
      return errorFromRefusal(refusal, { account, requests, windows: read, offerKey });
    },
    /** Returns the windows that the RateLimit headers report. */
    windowsOf: (account: Account) => statesOf(account, ["request", "engine_ms"]),
    /**
     * Returns one window for each policy. If the caller and the address have separate windows, returns the window with less
     * quota.
     */
    allWindowsOf: (account: Account) => statesOf(account, ["request", "engine_ms", "refusal"]),
    flush: memory.flush,
  };
}

async function enter(
  store: LimitStore,
  account: Account,
  time: SearchTime,
  { requests = 1, waiting, onEntered }: EnterOptions = {},
): Promise<LimitDecision> {
  const { subject, plan } = account;
  const { concurrent } = plan.limits;
  const engineTime = countedWindows(account, "engine_ms");
  const taken = requests > 0 ? countedWindows(account, "request") : [];
  const asked: EnterRequest = {
    subject,
    concurrent,
    expectedMs: upperTime(time),
    engineTime: engineTime.map(({ window }) => window),
    requests: taken.map(({ window }) => window),
    count: requests,
  };
  const windowsOf = (uses: { engineTime: readonly WindowUse[]; requests: readonly WindowUse[] }) =>
    requests === 0
      ? []
      : tightestOfEach([...windowsFrom(taken, uses.requests), ...windowsFrom(engineTime, uses.engineTime)]);
  const fullOf = (uses: readonly WindowUse[]) =>
    windowsFrom(taken, uses).filter(({ remaining }) => remaining < requests);
  const enteredAt = (place: SearchPlace): EnteredRequest => ({
    leave: (engineMs, answered) => place.leave(engineMs, engineMs <= 0 && !answered),
    freePlace: place.free,
  });
  const answer = await store.enter(asked, waiting, (place) => onEntered?.(enteredAt(place)));
  switch (answer.kind) {
    case "busy": {
      const quota = concurrent ?? 0;
      const retryAfterMs = firstFreeMs(answer.running);
      const refusal = { code: "concurrency_limited", limit: "concurrent", quota, retryAfterMs } as const;
      return { kind: "refused", refusal, windows: [] };
    }
    case "exhausted": {
      const usedUp = windowsFrom(engineTime, answer.engineTime).filter(({ remaining }) => remaining === 0);
      // A used-up window of requests may end later than the windows of engine time.
      const all = [...usedUp, ...fullOf(answer.requests)];
      return { kind: "refused", refusal: refusalBy(all), windows: windowsOf(answer) };
    }
    case "full": {
      return { kind: "refused", refusal: refusalBy(fullOf(answer.requests)), windows: windowsOf(answer) };
    }
    case "entered": {
      return { kind: "entered", entered: enteredAt(answer.place), windows: windowsOf(answer) };
    }
  }
}

/** Milliseconds that a search can run beyond its time limit before its engine is killed. */
const watchdogMs = 1500;
/** A search rarely takes longer than its expected time multiplied by this number. */
const upperTimeFactor = 2;

function upperTime({ expectedMs, longestMs }: SearchTime): number {
  return Math.min(expectedMs * upperTimeFactor, longestMs + watchdogMs);
}

type CountedUnit = Exclude<RatePolicy["unit"], "call">;

interface CountedWindow {
  readonly policy: RatePolicy;
  readonly window: QuotaWindow;
}

/**
 * Engine time has a window for the caller and a window for the address. Requests and errors have only a window for the caller.
 */
function countedWindows({ plan, subject, address }: Account, unit: CountedUnit): readonly CountedWindow[] {
  const subjects = unit === "engine_ms" ? [...new Set([subject, address])] : [subject];
  return ratesOf(plan, unit).flatMap((policy) =>
    subjects.map((counted) => ({ policy, window: windowOf(plan, policy, counted) })),
  );
}

function windowsFrom(windows: readonly CountedWindow[], uses: readonly WindowUse[]): readonly RateWindow[] {
  return windows.map(({ policy }, index) => windowFrom(policy, uses[index] as WindowUse));
}

/** Returns one window for each policy: the caller and the address may have separate windows. */
function tightestOfEach(windows: readonly RateWindow[]): readonly RateWindow[] {
  return Array.from(Map.groupBy(windows, ({ policy }) => policy).values(), tightest);
}

/**
 * Returns the window with the least remaining quota. If two windows have the same quota left, returns the window that ends
 * last.
 */
function tightest(windows: readonly RateWindow[]): RateWindow {
  const [first] = windows.toSorted((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs);
  return first as RateWindow;
}

/** The list must not be empty. */
function refusalBy(windows: readonly RateWindow[]): Refusal {
  const [last] = windows.toSorted((a, b) => b.resetMs - a.resetMs);
  const window = last as RateWindow;
  const { policy, resetMs } = window;
  const code = policy.unit === "request" ? "rate_limited" : "quota_exhausted";
  return { code, limit: policy.name, quota: policy.quota, window, retryAfterMs: resetMs };
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
