import { RateLimiterRes } from "rate-limiter-flexible";
import type { EngineTime, UsageStore } from "../storage/ports.ts";
import type { Account } from "./account.ts";
import { type Counter, createCounters, type RateWindow, windowFrom, windowOf } from "./counters.ts";
import { createInFlight } from "./in-flight.ts";
import type { Plan } from "./plans.ts";

/**
 * Counts what callers ask. Requests and searches at a time are counted by caller, engine time by key and by address:
 * whoever gets himself many keys does not get more of it.
 */
export interface Limits {
  /**
   * Counts one request, before the engine is asked. A refused one costs nothing.
   *
   * @param longestMs what its search takes at most, in milliseconds.
   */
  enter(account: Account, longestMs: number): Promise<Entry>;
  /** How the request windows of a caller stand. */
  windowsOf(account: Account): Promise<readonly RateWindow[]>;
  /** How all windows of a caller stand: of engine time, the one of key and address that has less left. */
  allWindowsOf(account: Account): Promise<readonly RateWindow[]>;
  /** Resolves when one of the caller's searches has ended. Rejects with the reason of `signal`. */
  oneEnded(account: Account, signal: AbortSignal): Promise<void>;
  /** Writes down the engine time used since the last time. */
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
}

export interface Refusal {
  readonly code: "rate_limited" | "quota_exhausted" | "concurrency_limited";
  /** What is exceeded, with its number: `minute`, 60. */
  readonly limit: string;
  readonly quota: number;
  /** When the same request would be let in: exactly for windows, at the latest for searches at a time. */
  readonly retryAfterMs: number;
}

export interface LimitsOptions {
  readonly plans: readonly Plan[];
  readonly usage: UsageStore;
}

/** How much longer than its own limit a search can take: the watchdog's patience. */
const watchdogMs = 1500;

/** Counters that begin with the engine time that counts already. */
export async function createLimits({ plans, usage }: LimitsOptions): Promise<Limits> {
  const counters = createCounters(plans);
  const inFlight = createInFlight();
  const spent = new Map<string, EngineTime>();
  restore([...counters.values()].flat(), await usage.current(Date.now()));

  const countersOf = (account: Account, unit: Counter["policy"]["unit"]) =>
    (counters.get(account.plan.id) ?? []).filter(({ policy }) => policy.unit === unit);

  const windowsOf = (account: Account) =>
    Promise.all(countersOf(account, "request").map((counter) => windowOf(counter, account.subject)));

  /** The engine time window that has ended its quota, or else the one with less left. */
  async function tightest(counter: Counter, account: Account): Promise<RateWindow> {
    const own = await windowOf(counter, account.subject);
    if (account.address === account.subject) {
      return own;
    }
    const shared = await windowOf(counter, account.address);
    const tie = shared.remaining === own.remaining;
    return shared.remaining < own.remaining || (tie && shared.resetMs > own.resetMs) ? shared : own;
  }

  async function exhausted(account: Account): Promise<Refusal | undefined> {
    let refusal: Refusal | undefined;
    for (const counter of countersOf(account, "engine_ms")) {
      const { policy, remaining, resetMs } = await tightest(counter, account);
      if (remaining === 0 && resetMs > (refusal?.retryAfterMs ?? 0)) {
        refusal = { code: "quota_exhausted", limit: policy.name, quota: policy.quota, retryAfterMs: resetMs };
      }
    }
    return refusal;
  }

  /** Takes a request out of each window, or out of none. */
  async function takeRequest(account: Account) {
    const taken: Counter[] = [];
    const windows: RateWindow[] = [];
    let refusal: Refusal | undefined;
    for (const counter of countersOf(account, "request")) {
      const { policy, limiter } = counter;
      const result = await limiter.consume(account.subject).catch((thrown: unknown) => {
        if (thrown instanceof RateLimiterRes) {
          return thrown;
        }
        throw thrown;
      });
      taken.push(counter);
      windows.push(windowFrom(policy, result));
      if (result.consumedPoints > policy.quota && result.msBeforeNext > (refusal?.retryAfterMs ?? 0)) {
        const retryAfterMs = result.msBeforeNext;
        refusal = { code: "rate_limited", limit: policy.name, quota: policy.quota, retryAfterMs };
      }
    }
    if (refusal) {
      giveBack(account, taken);
    }
    return { taken, windows, refusal };
  }

  function giveBack(account: Account, taken: readonly Counter[]): void {
    for (const { limiter } of taken) {
      void limiter.reward(account.subject);
    }
  }

  function charge(account: Account, engineMs: number): void {
    for (const counter of countersOf(account, "engine_ms")) {
      for (const subject of new Set([account.subject, account.address])) {
        void counter.limiter.penalty(subject, engineMs).then(({ msBeforeNext }) => {
          const name = JSON.stringify([counter.name, subject]);
          const before = spent.get(name)?.engineMs ?? 0;
          const resetsAt = Date.now() + msBeforeNext;
          spent.set(name, { rate: counter.name, subject, engineMs: before + engineMs, resetsAt });
        });
      }
    }
  }

  return {
    async enter(account, longestMs) {
      const { subject, plan } = account;
      const { concurrent } = plan.limits;
      const place =
        concurrent === undefined ? noPlace : inFlight.enter(subject, concurrent, longestMs + watchdogMs);
      if (place === undefined) {
        const refusal: Refusal = {
          code: "concurrency_limited",
          limit: "concurrent",
          quota: concurrent ?? 0,
          retryAfterMs: inFlight.firstEndMs(subject),
        };
        return { kind: "refused", refusal };
      }
      const used = await exhausted(account);
      const { taken, windows, refusal = used } = used ? nothingTaken : await takeRequest(account);
      if (refusal) {
        place[Symbol.dispose]();
        return { kind: "refused", refusal };
      }
      const admission: Admission = {
        leave(engineMs, answered) {
          place[Symbol.dispose]();
          if (engineMs > 0) {
            charge(account, engineMs);
          } else if (!answered) {
            giveBack(account, taken);
          }
        },
      };
      return { kind: "admitted", admission, windows };
    },
    windowsOf,
    allWindowsOf: (account) =>
      Promise.all(
        (counters.get(account.plan.id) ?? []).map((counter) =>
          counter.policy.unit === "request" ? windowOf(counter, account.subject) : tightest(counter, account),
        ),
      ),
    oneEnded: ({ subject }, signal) => inFlight.oneEnded(subject, signal),
    async flush() {
      const written = [...spent.values()];
      spent.clear();
      if (written.length > 0) {
        await usage.add(written, Date.now());
      }
    },
  };
}

const nothingTaken = { taken: [], windows: [], refusal: undefined };

const noPlace: Disposable = { [Symbol.dispose]() {} };

/** Puts back into the counters what an earlier process has counted. */
function restore(counters: readonly Counter[], used: readonly EngineTime[]): void {
  for (const { name, limiter } of counters) {
    const storage = used
      .filter(({ rate }) => rate === name)
      .map(({ subject, engineMs, resetsAt }) => ({ key: subject, value: engineMs, expiresAt: resetsAt }));
    limiter.restore({ version: 1, storage });
  }
}
