import { requestBounds } from "../analysis/analysis.ts";
import type { QuotaWindow } from "../storage/ports.ts";

/** The limits of a group of callers. `GET /price` shows the same data that is enforced. */
export interface Plan {
  readonly id: string;
  readonly requiresKey: boolean;
  readonly limits: PlanLimits;
}

export interface PlanLimits {
  /** Plies. */
  readonly depthMax: number;
  /** The greatest `nodes` of a request. */
  readonly nodesMax: number;
  readonly multipvMax: number;
  readonly movetimeMaxMs: number;
  /** Plies of a reviewed game. */
  readonly reviewPliesMax: number;
  /** Searches at a time; undefined if not limited. */
  readonly concurrent: number | undefined;
  readonly rates: readonly RatePolicy[];
}

/** A quota over a time window, which begins with the first use. */
export interface RatePolicy {
  /** Unique in its plan. It stands in the header RateLimit-Policy. */
  readonly name: string;
  readonly quota: number;
  readonly windowS: number;
  /**
   * Requests and refusals are counted by caller; milliseconds of engine time by key and by address; calls that are not analyses
   * by address, on each node.
   */
  readonly unit: "request" | "engine_ms" | "refusal" | "call";
}

/** The error quota. */
const refusals: RatePolicy = { name: "refusals", quota: 120, windowS: 60, unit: "refusal" };

/** The rate of calls that are not analyses: 20 a second are more than any client needs, and take a few per cent of the thread. */
const calls: RatePolicy = { name: "calls", quota: 1200, windowS: 60, unit: "call" };

/** The bounds of the API itself, and no quota. */
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

/** The plan without its limit of searches at a time: for requests that need no engine. */
export function withoutConcurrent(plan: Plan): Plan {
  return { ...plan, limits: { ...plan.limits, concurrent: undefined } };
}

/** The plan of callers without a key. */
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

/** The plans of a service without a file of plans, smallest first. */
export const builtInPlans: readonly Plan[] = [keylessPlan, freePlan];

/** The plan with this id. */
export function planOf(plans: readonly Plan[], id: string): Plan | undefined {
  return plans.find((plan) => plan.id === id);
}

/** The rates of a plan that count one unit. */
export function ratesOf({ limits }: Plan, unit: RatePolicy["unit"]): readonly RatePolicy[] {
  return limits.rates.filter((rate) => rate.unit === unit);
}

/** The name of a rate among those of all plans. */
export function nameOf(planId: string, { name }: RatePolicy): string {
  return `${planId}/${name}`;
}

/** The window in which a rate of a plan counts a subject. */
export function windowOf({ id }: Plan, policy: RatePolicy, subject: string): QuotaWindow {
  return { rate: nameOf(id, policy), subject, quota: policy.quota, windowMs: policy.windowS * 1000 };
}
