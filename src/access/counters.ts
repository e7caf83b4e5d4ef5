import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import type { RequestOutcome } from "../request/outcome.ts";
import type { Plan, RatePolicy } from "./plans.ts";

/** One rate of one plan, counted. */
export interface Counter {
  /** Unique: plan and name of the rate. */
  readonly name: string;
  readonly policy: RatePolicy;
  readonly limiter: RateLimiterMemory;
}

/** What is counted of the callers of a plan. */
export interface PlanCounters {
  readonly requests: readonly Counter[];
  readonly engineTime: readonly Counter[];
  readonly refusals: readonly Counter[];
}

/** How a window stands. */
export interface RateWindow {
  readonly policy: RatePolicy;
  readonly remaining: number;
  /** Milliseconds until the window ends and all is there again. */
  readonly resetMs: number;
}

export function createPlanCounters({ id, limits }: Plan): PlanCounters {
  const counters = limits.rates.map((policy) => createCounter(id, policy));
  return {
    requests: counters.filter(({ policy }) => policy.unit === "request"),
    engineTime: counters.filter(({ policy }) => policy.unit === "engine_ms"),
    refusals: counters.filter(({ policy }) => policy.unit === "refusal"),
  };
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
    : { policy, remaining: found.remainingPoints, resetMs: untilEndMs(policy, found) };
}

/**
 * Milliseconds until a window ends. Never more than it lasts: the library reckons by the wall clock, and when that is
 * set back a minute would have hours to go. Its timer ends the window all the same.
 */
export function untilEndMs(
  { windowS }: RatePolicy,
  { msBeforeNext }: Pick<RateLimiterRes, "msBeforeNext">,
): number {
  return Math.min(msBeforeNext, windowS * 1000);
}

/**
 * Adds the header fields of the caller's windows to the answer, as draft-ietf-httpapi-ratelimit-headers-10 writes them:
 * `"minute";q=60;w=60` and `"minute";r=59;t=42`. Nothing where nothing is limited.
 */
export function setRateLimitHeaders({ answerHeaders }: RequestOutcome, windows: readonly RateWindow[]): void {
  if (windows.length === 0) {
    return;
  }
  const policies = windows.map(({ policy: { name, quota, windowS } }) => `"${name}";q=${quota};w=${windowS}`);
  const states = windows.map(
    ({ policy, remaining, resetMs }) => `"${policy.name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  );
  answerHeaders.set("ratelimit-policy", policies.join(", "));
  answerHeaders.set("ratelimit", states.join(", "));
}

/** Whether the fields are there already. */
export function hasRateLimitHeaders({ answerHeaders }: RequestOutcome): boolean {
  return answerHeaders.has("ratelimit");
}
