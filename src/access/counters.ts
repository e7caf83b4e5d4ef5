import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import type { Plan, RatePolicy } from "./plans.ts";

/** One rate of one plan, counted. */
export interface Counter {
  /** Unique: plan and name of the rate. */
  readonly name: string;
  readonly policy: RatePolicy;
  readonly limiter: RateLimiterMemory;
}

/** How a window stands. */
export interface RateWindow {
  readonly policy: RatePolicy;
  readonly remaining: number;
  /** Milliseconds until the window ends and all is there again. */
  readonly resetMs: number;
}

/** The counters of the plans by their ids, in the order of the plans' rates. */
export function createCounters(plans: readonly Plan[]): ReadonlyMap<string, readonly Counter[]> {
  return new Map(
    plans.map(({ id, limits }) => [id, limits.rates.map((policy) => createCounter(id, policy))] as const),
  );
}

function createCounter(planId: string, policy: RatePolicy): Counter {
  const limiter = new RateLimiterMemory({ points: policy.quota, duration: policy.windowS, keyPrefix: "" });
  return { name: `${planId}/${policy.name}`, policy, limiter };
}

/** How the window of a subject stands, without counting. */
export async function windowOf({ policy, limiter }: Counter, subject: string): Promise<RateWindow> {
  return windowFrom(policy, await limiter.get(subject));
}

export function windowFrom(policy: RatePolicy, found: RateLimiterRes | null): RateWindow {
  // A window that has ended may not have been cleared away yet.
  return found === null || found.msBeforeNext <= 0
    ? { policy, remaining: policy.quota, resetMs: policy.windowS * 1000 }
    : { policy, remaining: found.remainingPoints, resetMs: found.msBeforeNext };
}
