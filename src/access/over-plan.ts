import { batchItemsMax, requestBounds } from "../analysis/analysis.ts";
import type { SearchLimits } from "../analysis/expected-time.ts";
import type { NextAction } from "../errors/catalogue.ts";
import { KibitzError, type Violation } from "../errors/errors.ts";
import { freePlan, type Plan, type PlanLimits } from "./plans.ts";

/** The path where callers get self-service keys. */
export const keyUrl = "/v1/keys";

/** A value of a request that exceeds the plan. */
interface Excess {
  readonly asked: number;
  /** The limit of the plan in words, such as `depth up to 20`. */
  readonly allowed: string;
  readonly violation: Violation;
}

/** Returns the violations of a search that exceeds the plan. */
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

/**
 * Returns the maximum number of requests in a batch. If a batch had more requests than the quota of a window, it could never be
 * answered completely.
 */
export function batchMaxOf(limits: PlanLimits): number {
  return Math.min(batchItemsMax, requestQuotaOf(limits));
}

/** Returns the largest number of requests that is within every request quota of the plan. */
function requestQuotaOf({ rates }: PlanLimits): number {
  return Math.min(...rates.filter(({ unit }) => unit === "request").map(({ quota }) => quota));
}

/** Returns the violations of a batch that has more requests than the plan allows. */
export function excessOfBatch(items: number, { limits }: Plan): readonly Excess[] {
  const maxItems = batchMaxOf(limits);
  const allowed = `batches of up to ${maxItems}`;
  const bounds = { minItems: 1, maxItems };
  return items > maxItems
    ? [{ asked: items, allowed, violation: violationOver("/requests", items, maxItems, bounds) }]
    : [];
}

/** The values of a review that a plan limits. */
export interface ReviewLimits extends Pick<SearchLimits, "depth" | "nodes"> {
  readonly lines: number;
  readonly plies: number;
  /** JSON Pointer to the game in the request, and the allowed value at this place for a game of the given number of plies. */
  readonly pointer: string;
  readonly shortened: (plies: number) => Violation["allowed"];
}

/**
 * Returns the violations of a review. They are those of each search, and one more if the game is longer than the plan or one of
 * its windows allows.
 */
export function excessOfReview(
  { lines, plies, pointer, shortened, ...search }: ReviewLimits,
  plan: Plan,
): readonly Excess[] {
  const { multipvMax, reviewPliesMax } = plan.limits;
  // A game has one more position than plies.
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

/** The number of positions of a review that count as one request. */
const positionsOfRequest = 10;

/** Returns the number of requests that a review counts as. */
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
  /** The caller's plan. */
  readonly plan: Plan;
  /** The plans of the service, smallest first. */
  readonly plans: readonly Plan[];
  /** True if callers can get keys of the free plan by themselves. */
  readonly hasSelfService: boolean;
}

/**
 * Returns the error for a request that exceeds its caller's plan, with the plan that allows the request and the way to get that
 * plan. Returns undefined if the caller's plan allows the request.
 *
 * @param excessIn returns the violations of the request in a plan
 */
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

/**
 * Returns the expected time of a search in milliseconds, and for each plan, in order, whether it allows the search.
 *
 * @param expectedMs expected time of the search on this machine
 */
export function estimateOf(asked: SearchLimits, plans: readonly Plan[], expectedMs: number) {
  return {
    typicalMs: Math.round(expectedMs),
    allowed: plans.map((plan) => ({ plan: plan.id, allowed: excessOf(asked, plan).length === 0 })),
  };
}
