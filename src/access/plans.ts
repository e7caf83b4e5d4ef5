import { requestBounds } from "../analysis/analysis.ts";
import type { QuotaWindow } from "../storage/ports.ts";

/** `GET /price` shows the same limits that are enforced. */
export interface Plan {
  readonly id: string;
  readonly requiresKey: boolean;
  readonly limits: PlanLimits;
}

export interface PlanLimits {
  readonly depthMax: number;
  readonly nodesMax: number;
  readonly multipvMax: number;
  readonly movetimeMaxMs: number;
  readonly reviewPliesMax: number;
  /** The maximum number of searches at a time, if there is a limit. */
  readonly concurrent: number | undefined;
  readonly rates: readonly RatePolicy[];
}

/** A quota over a time window. The window begins with the first use. */
export interface RatePolicy {
  /** Name of the rate, unique in its plan. The RateLimit-Policy header shows it. */
  readonly name: string;
  readonly quota: number;
  readonly windowS: number;
  /** Requests and refusals are counted by caller, engine time also by address, and other calls by address, on each node. */
  readonly unit: "request" | "engine_ms" | "refusal" | "call";
}

/** The error quota, which is the same in all built-in plans. */
const refusals: RatePolicy = { name: "refusals", quota: 120, windowS: 60, unit: "refusal" };

/** The rate of calls that are not analyses. No client needs more than 20 per second, which take a few per cent of the thread. */
const calls: RatePolicy = { name: "calls", quota: 1200, windowS: 60, unit: "call" };

/** The plan of the mode `open`: the bounds of the API itself, without a quota. */
export const openPlan: Plan = {
  id: "keyless",
  requiresKey: false,
  limits: {
    depthMax: requestBounds.depth.maximum,
    nodesMax: requestBounds.nodes.maximum,
    multipvMax: requestBounds.multipv.maximum,
    movetimeMaxMs: requestBounds.movetimeMs.maximum,
    reviewPliesMax: requestBounds.reviewPlies.maximum,
    concurrent: undefined,
    rates: [],
  },
};

/** For requests that need no engine. */
export function withoutConcurrent(plan: Plan): Plan {
  return { ...plan, limits: { ...plan.limits, concurrent: undefined } };
}

export const keylessPlan: Plan = {
  id: "keyless",
  requiresKey: false,
  limits: {
    depthMax: 20,
    nodesMax: 2_000_000,
    multipvMax: 5,
    movetimeMaxMs: 5000,
    reviewPliesMax: 120,
    concurrent: 2,
    rates: [{ name: "minute", quota: 60, windowS: 60, unit: "request" }, refusals, calls],
  },
};

/** The plan of self-service keys. */
export const freePlan: Plan = {
  id: "free",
  requiresKey: true,
  limits: {
    ...openPlan.limits,
    nodesMax: 40_000_000,
    concurrent: 4,
    rates: [
      { name: "minute", quota: 240, windowS: 60, unit: "request" },
      { name: "engine-day", quota: 3_600_000, windowS: 86_400, unit: "engine_ms" },
      refusals,
      calls,
    ],
  },
};

/** The plans of a service that has no file of plans, smallest first. */
export const builtInPlans: readonly Plan[] = [keylessPlan, freePlan];

export function planOf(plans: readonly Plan[], id: string): Plan | undefined {
  return plans.find((plan) => plan.id === id);
}

export function ratesOf({ limits }: Plan, unit: RatePolicy["unit"]): readonly RatePolicy[] {
  return limits.rates.filter((rate) => rate.unit === unit);
}

/** The name of a rate is unique among the rates of all plans. */
export function nameOf(planId: string, { name }: RatePolicy): string {
  return `${planId}/${name}`;
}

export function windowOf({ id }: Plan, policy: RatePolicy, subject: string): QuotaWindow {
  return { rate: nameOf(id, policy), subject, quota: policy.quota, windowMs: policy.windowS * 1000 };
}
