import type { SearchTime } from "../analysis/expected-time.ts";
import type { EngineTime, UsageStore } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import {
  type Counter,
  createInFlight,
  createPlanCounters,
  createRefusals,
  type InFlight,
  type PlanCounters,
  type RateWindow,
  type Refusals,
  windowFrom,
  windowOf,
} from "./counters.ts";
import type { Plan, RatePolicy } from "./plans.ts";

/**
 * Counts what callers ask. Requests and searches at a time are counted by caller, engine time by caller and by address:
 * whoever calls with a key from many addresses, or from one with many keys, does not get more of it.
 */
export interface Limits {
  /**
   * Counts a request, before the engine is asked. A refused one costs nothing, and one that could not be counted
   * neither: then it rejects with what the counter rejected with.
   *
   * @param time what its search takes.
   * @param requests what it counts for: none, where what it belongs to has been counted.
   */
  enter(account: Account, time: SearchTime, requests?: number): Promise<Entry>;
  /** What callers are refused. */
  readonly refusals: Refusals;
  /** How the request windows of a caller stand. */
  windowsOf(account: Account): Promise<readonly RateWindow[]>;
  /** How all windows of a caller stand: of engine time, the one of key and address that has less left. */
  allWindowsOf(account: Account): Promise<readonly RateWindow[]>;
  /** Resolves when the caller may have one more search under way. Rejects with the reason of `signal`. */
  placeFree(account: Account, signal: AbortSignal): Promise<void>;
  /** Writes down the engine time used since the last time. What cannot be written is kept for the next time. */
  flush(): Promise<void>;
}

export type Entry =
  | { readonly kind: "admitted"; readonly admission: Admission; readonly windows: readonly RateWindow[] }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** A request that was let in, until it leaves. */
export interface Admission {
  /**
   * The request has ended. Its engine time is counted.
   *
   * @param answered a request that was neither answered nor took engine time is given back.
   */
  leave(engineMs: number, answered: boolean): void;
  /** Its search has ended, and what it belongs to has not: another one may begin. */
  freePlace(): void;
}

export interface Refusal {
  readonly code: "rate_limited" | "quota_exhausted" | "concurrency_limited";
  /** What is exceeded, with its number: `minute`, 60. */
  readonly limit: string;
  readonly quota: number;
  /** When the same request would be let in: exactly for windows, probably for searches at a time. */
  readonly retryAfterMs: number;
}

interface LimitsOptions {
  readonly plans: readonly Plan[];
  readonly usage: UsageStore;
  /** What is under way in this process. */
  readonly inFlight?: InFlight;
}

interface NewLimitsOptions extends Omit<LimitsOptions, "usage"> {
  readonly usage: Pick<UsageStore, "add">;
}

/** How much longer than its own limit a search can take: the watchdog's patience. */
const watchdogMs = 1500;
/** Many searches take longer than is expected of them, few twice as long. */
const generosity = 2;

/** Milliseconds that hardly a search takes more than. */
export function upperTime({ expectedMs, longestMs }: SearchTime): number {
  return Math.min(expectedMs * generosity, longestMs + watchdogMs);
}

/** Counters that begin with the engine time that counts already. */
export async function createLimits(options: LimitsOptions): Promise<Limits> {
  return createNewLimits(options, await options.usage.current(Date.now()));
}

/** Counters that begin with this engine time. */
export function createNewLimits(
  { plans, usage, inFlight = createInFlight() }: NewLimitsOptions,
  used: readonly EngineTime[] = [],
): Limits {
  const counters = new Map(plans.map((plan) => [plan.id, createPlanCounters(plan)]));
  const spent = new Map<string, EngineTime>();
  const countersOf = ({ plan }: Account) => counters.get(plan.id) ?? noCounters;
  restore(
    [...counters.values()].flatMap(({ engineTime }) => engineTime),
    used,
  );

  const windowsOf = (account: Account) =>
    countersOf(account).requests.map((counter) => windowOf(counter, account.subject));

  /** Of key and address, the window with less left; of equal ones the one that ends later. */
  function tightest(counter: Counter, { subject, address }: Account): RateWindow {
    const own = windowOf(counter, subject);
    const shared = address === subject ? own : windowOf(counter, address);
    const tighter =
      shared.remaining < own.remaining ||
      (shared.remaining === own.remaining && shared.resetMs > own.resetMs);
    return tighter ? shared : own;
  }

  function engineTimeRefusal(account: Account): Refusal | undefined {
    let refusal: Refusal | undefined;
    for (const counter of countersOf(account).engineTime) {
      const { policy, remaining, resetMs } = tightest(counter, account);
      if (remaining === 0) {
        refusal = later(refusal, { ...refusalOf("quota_exhausted", policy), retryAfterMs: resetMs });
      }
    }
    return refusal;
  }

  /** Takes requests out of each window, or out of none. */
  function takeRequests(account: Account, count: number): Refusal | readonly RateWindow[] {
    const taken: RateWindow[] = [];
    let refusal: Refusal | undefined;
    for (const { policy, windows } of countersOf(account).requests) {
      const use = windows.add(account.subject, count);
      taken.push(windowFrom(policy, use));
      if (use.used > policy.quota) {
        refusal = later(refusal, { ...refusalOf("rate_limited", policy), retryAfterMs: use.endsInMs });
      }
    }
    if (refusal) {
      giveBack(account, taken, count, 0);
    }
    return refusal ?? taken;
  }

  /** @param sinceMs how long ago they were taken: a window that has ended since has nothing to get back. */
  function giveBack(account: Account, taken: readonly RateWindow[], count: number, sinceMs: number): void {
    for (const [index, { windows }] of countersOf(account).requests.entries()) {
      if (sinceMs < (taken[index]?.resetMs ?? 0)) {
        windows.add(account.subject, -count);
      }
    }
  }

  /** Until the next flush. */
  function keep(time: EngineTime): void {
    // No line break is in either.
    const id = `${time.rate}\n${time.subject}`;
    const before = spent.get(id)?.engineMs ?? 0;
    spent.set(id, { ...time, engineMs: before + time.engineMs });
  }

  function charge(account: Account, engineMs: number): void {
    const { subject, address } = account;
    for (const { name, windows } of countersOf(account).engineTime) {
      for (const one of subject === address ? [subject] : [subject, address]) {
        const { endsInMs } = windows.add(one, engineMs);
        keep({ rate: name, subject: one, engineMs, resetsAt: Date.now() + endsInMs });
      }
    }
  }

  function admitted(
    account: Account,
    place: Disposable,
    windows: readonly RateWindow[],
    requests: number,
  ): Entry {
    const takenAt = performance.now();
    const freePlace = () => place[Symbol.dispose]();
    const leave: Admission["leave"] = (engineMs, answered) => {
      freePlace();
      if (engineMs > 0) {
        charge(account, engineMs);
      } else if (!answered) {
        giveBack(account, windows, requests, performance.now() - takenAt);
      }
    };
    return { kind: "admitted", admission: { leave, freePlace }, windows };
  }

  return {
    async enter(account, { expectedMs, longestMs }, requests = 1) {
      const { subject, plan } = account;
      const { concurrent } = plan.limits;
      const upperMs = upperTime({ expectedMs, longestMs });
      const place = concurrent === undefined ? noPlace : inFlight.enter(subject, concurrent, upperMs);
      if (place === undefined) {
        const retryAfterMs = inFlight.firstEndMs(subject);
        const refusal = { code: "concurrency_limited", limit: "concurrent", quota: concurrent ?? 0 } as const;
        return { kind: "refused", refusal: { ...refusal, retryAfterMs } };
      }
      const counters = countersOf(account);
      const isCounted = requests > 0 && counters.requests.length > 0;
      const exhausted = counters.engineTime.length === 0 ? undefined : engineTimeRefusal(account);
      const taken = exhausted ?? (isCounted ? takeRequests(account, requests) : noWindows);
      if (!("code" in taken)) {
        return admitted(account, place, taken, requests);
      }
      place[Symbol.dispose]();
      return { kind: "refused", refusal: taken };
    },
    refusals: createRefusals((account) => countersOf(account).refusals),
    windowsOf: async (account) => windowsOf(account),
    allWindowsOf: async (account) => [
      ...windowsOf(account),
      ...countersOf(account).engineTime.map((counter) => tightest(counter, account)),
      ...countersOf(account).refusals.map((counter) => windowOf(counter, account.subject)),
    ],
    placeFree: ({ subject, plan }, signal) =>
      inFlight.placeFree(subject, plan.limits.concurrent ?? Number.POSITIVE_INFINITY, signal),
    async flush() {
      const written = [...spent.values()];
      spent.clear();
      if (written.length === 0) {
        return;
      }
      try {
        await usage.add(written, Date.now());
      } catch (error) {
        // Not for ever: what a window that has ended held counts no more.
        written.filter(({ resetsAt }) => resetsAt > Date.now()).forEach(keep);
        throw error;
      }
    },
  };
}

const noCounters: PlanCounters = { requests: [], engineTime: [], refusals: [] };
const noWindows: readonly RateWindow[] = [];
const noPlace: Disposable = { [Symbol.dispose]() {} };

export function refusalOf(code: Refusal["code"], { name, quota }: RatePolicy) {
  return { code, limit: name, quota };
}

/** Whoever is refused by several windows has to wait for the last. */
export function later(one: Refusal | undefined, other: Refusal): Refusal {
  return one && one.retryAfterMs >= other.retryAfterMs ? one : other;
}

/** Puts back into the counters what an earlier process has counted. */
function restore(counters: readonly Counter[], used: readonly EngineTime[]): void {
  const now = Date.now();
  const inOrder = used.toSorted((one, other) => one.resetsAt - other.resetsAt);
  for (const { rate, subject, engineMs, resetsAt } of inOrder) {
    const counter = counters.find(({ name }) => name === rate);
    counter?.windows.restore(subject, { used: engineMs, endsInMs: resetsAt - now });
  }
}
