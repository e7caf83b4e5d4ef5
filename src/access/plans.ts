import { requestBounds } from "../analysis/analysis.ts";
import type { QuotaWindow } from "../storage/ports.ts";

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
  /** Undefined if there is no limit. */
  readonly concurrent: number | undefined;
  readonly rates: readonly RatePolicy[];
}

/** A quota within a time window. The window begins with the first request. */
export interface RatePolicy {
  /** Unique within the plan. The RateLimit-Policy header contains this name. */
  readonly name: string;
  readonly quota: number;
  readonly windowS: number;
  /**
   * - `request`, `refusal`: one window for each caller
   * - `engine_ms`: one window for each caller, and one window for each address
   * - `call`: one window for each address on each node
   */
  readonly unit: "request" | "engine_ms" | "refusal" | "call";
}

const refusals: RatePolicy = { name: "refusals", quota: 120, windowS: 60, unit: "refusal" };

/** 20 calls per second. No client needs more calls, and 20 calls per second use only a few per cent of a processor. */
const calls: RatePolicy = { name: "calls", quota: 1200, windowS: 60, unit: "call" };

/** The plan `keyless` has the same quota, so that a caller with a key never gets less engine time than without a key. */
const engineDay: RatePolicy = {
  name: "engine-day",
  quota: 3_600_000,
  windowS: 86_400,
  unit: "engine_ms",
};

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
    rates: [
      { name: "minute", quota: 60, windowS: 60, unit: "request" },
      { name: "engine-hour", quota: 300_000, windowS: 3600, unit: "engine_ms" },
      engineDay,
      refusals,
      calls,
    ],
  },
};

export const freePlan: Plan = {
  id: "free",
  requiresKey: true,
  limits: {
    ...openPlan.limits,
    nodesMax: 40_000_000,
    concurrent: 4,
    rates: [{ name: "minute", quota: 240, windowS: 60, unit: "request" }, engineDay, refusals, calls],
  },
};

/** These plans apply if the operator configures no plans. The smallest plan is first. */
export const builtInPlans: readonly Plan[] = [keylessPlan, freePlan];

export function planOf(plans: readonly Plan[], id: string): Plan | undefined {
  return plans.find((plan) => plan.id === id);
}

export function ratesOf({ limits }: Plan, unit: RatePolicy["unit"]): readonly RatePolicy[] {
  return limits.rates.filter((rate) => rate.unit === unit);
}

export function nameOf(planId: string, { name }: RatePolicy): string {
  return `${planId}/${name}`;
}

/** Returns a function that maps the name of a rate to the length of its windows in milliseconds. Of equal names, the last wins. */
export function windowLengths(plans: readonly Plan[]): (rate: string) => number | undefined {
  const lengths = new Map(
    plans.flatMap(({ id, limits }) =>
      limits.rates.map((policy) => [nameOf(id, policy), policy.windowS * 1000] as const),
    ),
  );
  return (rate) => lengths.get(rate);
}

export function windowOf({ id }: Plan, policy: RatePolicy, subject: string): QuotaWindow {
  return { rate: nameOf(id, policy), subject, quota: policy.quota, windowMs: policy.windowS * 1000 };
}
