import { batchItemsMax, requestBounds } from "../analysis/analysis.ts";
import type { SearchLimits } from "../analysis/expected-time.ts";
import type { NextAction } from "../errors/catalog.ts";
import { KibitzError, type Violation } from "../errors/errors.ts";
import { freePlan, type Plan, type PlanLimits } from "./plans.ts";

export const keyUrl = "/v1/keys";

interface Excess {
  readonly asked: number;
  readonly allowed: string;
  readonly violation: Violation;
}

export function excessOf(
  { depth, nodes, multipv, movetimeMs }: SearchLimits,
  { limits }: Plan,
): readonly Excess[] {
  const { depthMax, nodesMax, multipvMax, movetimeMaxMs } = limits;
  return [
    ...numberOver("depth", depth, depthMax),
    ...numberOver("nodes", nodes, nodesMax),
    ...numberOver("multipv", multipv, multipvMax),
    ...numberOver("movetime_ms", movetimeMs, movetimeMaxMs, requestBounds.movetimeMs.minimum),
  ];
}

/** Returns the maximum number of requests in a batch. A batch that exceeds the quota of a window could never succeed. */
export function batchMaxOf(limits: PlanLimits): number {
  return Math.min(batchItemsMax, requestQuotaOf(limits));
}

function requestQuotaOf({ rates }: PlanLimits): number {
  return Math.min(...rates.filter(({ unit }) => unit === "request").map(({ quota }) => quota));
}

export function excessOfBatch(items: number, { limits }: Plan): readonly Excess[] {
  const maxItems = batchMaxOf(limits);
  const allowed = `batches of up to ${maxItems}`;
  const bounds = { minItems: 1, maxItems };
  return items > maxItems
    ? [{ asked: items, allowed, violation: violationOver("/requests", items, maxItems, bounds) }]
    : [];
}

export interface ReviewLimits extends Pick<SearchLimits, "depth" | "nodes"> {
  readonly lines: number;
  readonly plies: number;
  readonly pointer: string;
  /** Describes the values of the field at `pointer` that have at most this number of plies. */
  readonly shortened: (plies: number) => Violation["allowed"];
}

/** The request quotas also limit the plies of a game, because a long review counts as many requests. */
export function excessOfReview(
  { lines, plies, pointer, shortened, ...search }: ReviewLimits,
  plan: Plan,
): readonly Excess[] {
  const { multipvMax, reviewPliesMax } = plan.limits;
  // A game has one more position than it has plies.
  const maxPlies = Math.min(reviewPliesMax, requestQuotaOf(plan.limits) * positionsOfRequest - 1);
  const allowed = `reviews of up to ${maxPlies} plies`;
  return [
    ...excessOf({ ...search, multipv: 1, movetimeMs: undefined }, plan),
    ...numberOver("lines", lines, multipvMax),
    ...(plies > maxPlies
      ? [{ asked: plies, allowed, violation: violationOver(pointer, plies, maxPlies, shortened(maxPlies)) }]
      : []),
  ];
}

/** This number of positions in a review counts as one request. */
const positionsOfRequest = 10;

export function requestsOfReview(positions: number): number {
  return Math.max(1, Math.ceil(positions / positionsOfRequest));
}

function numberOver(field: string, asked = 0, maximum: number, minimum = 1): readonly Excess[] {
  const allowed = `${field} up to ${maximum}`;
  return asked > maximum
    ? [{ asked, allowed, violation: violationOver(`/${field}`, asked, maximum, { minimum, maximum }) }]
    : [];
}

function violationOver(
  pointer: string,
  asked: number,
  maximum: number,
  allowed: Violation["allowed"],
): Violation {
  return {
    pointer,
    code: "over_plan_limit",
    message: `${asked} is more than the plan's maximum of ${maximum}.`,
    ...(allowed && { allowed }),
  };
}

interface Upgrading {
  readonly plan: Plan;
  readonly plans: readonly Plan[];
  /** True if callers can create keys of the free plan without the operator. */
  readonly hasSelfService: boolean;
}

/** The error names the smallest sufficient plan. Returns undefined if the caller's plan allows the request. */
export function upgradeNeeded(
  excessIn: (plan: Plan) => readonly Excess[],
  { plan, plans, hasSelfService }: Upgrading,
): KibitzError | undefined {
  const excess = excessIn(plan);
  if (excess.length === 0) {
    return undefined;
  }
  const better = plans.find((other) => other.requiresKey && other !== plan && excessIn(other).length === 0);
  const canGet = hasSelfService && better?.id === freePlan.id && !plan.requiresKey;
  const nextAction: NextAction = canGet ? "get_api_key" : "reduce_limits";
  const who = plan.requiresKey ? `Keys of the plan "${plan.id}"` : "Keyless calls";
  const allowed = excess.map((one) => one.allowed).join(", ");
  const asked = excess.map((one) => one.asked).join(", ");
  const detail = `${who} may ask for ${allowed}; this request asks for ${asked}.`;
  return new KibitzError("upgrade_needed", detail, {
    violations: excess.map(({ violation }) => violation),
    nextAction,
    ...(better && { upgrade: { plan: better.id, url: canGet ? keyUrl : "/price" } }),
  });
}

export function estimateOf(asked: SearchLimits, plans: readonly Plan[], expectedMs: number) {
  return {
    typicalMs: Math.round(expectedMs),
    allowed: plans.map((plan) => ({ plan: plan.id, allowed: excessOf(asked, plan).length === 0 })),
  };
}
