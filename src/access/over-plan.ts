import { batchItemsMax } from "../analysis/analysis.ts";
import type { SearchLimits } from "../analysis/expected-time.ts";
import type { NextAction } from "../errors/catalogue.ts";
import { type Fault, KibitzError } from "../errors/errors.ts";
import type { Plan, PlanLimits } from "./plans.ts";

/** Where callers get keys by themselves. */
export const keyUrl = "/v1/keys";

/** Something of a request that is more than a plan can ever run. */
interface Excess {
  readonly asked: number;
  /** What the plan allows, in words: `depth up to 20`. */
  readonly allowed: string;
  readonly fault: Fault;
}

/** What is too much of a request for a plan: nothing, mostly. */
export function excessOf(
  { depth = 0, nodes = 0, multipv, movetimeMs = 0 }: Asked,
  { limits }: Plan,
): readonly Excess[] {
  const { depthMax, nodesMax, multipvMax, movetimeMaxMs } = limits;
  const all: Excess[] = [];
  if (depth > depthMax) {
    all.push(numberOver("/depth", depth, 1, depthMax, `depth up to ${depthMax}`));
  }
  if (nodes > nodesMax) {
    all.push(numberOver("/nodes", nodes, 1, nodesMax, `nodes up to ${nodesMax}`));
  }
  if (multipv > multipvMax) {
    all.push(numberOver("/multipv", multipv, 1, multipvMax, `multipv up to ${multipvMax}`));
  }
  if (movetimeMs > movetimeMaxMs) {
    all.push(numberOver("/movetime_ms", movetimeMs, 50, movetimeMaxMs, `movetime_ms up to ${movetimeMaxMs}`));
  }
  return all;
}

/** Most requests in a batch. A batch of more requests than the quota of a window could never be answered in full. */
export function batchMaxOf({ rates }: PlanLimits): number {
  const quotas = rates.filter(({ unit }) => unit === "request").map(({ quota }) => quota);
  return Math.min(batchItemsMax, ...quotas);
}

/** The violations of a batch that has more requests than the plan allows. */
export function excessOfBatch(items: number, { limits }: Plan): readonly Excess[] {
  const maxItems = batchMaxOf(limits);
  const allowed = `batches of up to ${maxItems}`;
  const bounds = { minItems: 1, maxItems };
  return items > maxItems
    ? [{ asked: items, allowed, fault: faultOver("/requests", items, maxItems, bounds) }]
    : [];
}

/** A review as plans see it. */
export interface AskedReview extends Pick<SearchLimits, "depth" | "nodes"> {
  readonly lines: number;
  readonly plies: number;
  /** Where the game stands in the request, and what stands there of one with so many plies. */
  readonly pointer: string;
  readonly shortened: (plies: number) => Fault["allowed"];
}

/** What is too much of a review: for one search, or a game that is longer than one of the plan's windows can pay for. */
export function excessOfReview(
  { lines, plies, pointer, shortened, ...search }: AskedReview,
  plan: Plan,
): readonly Excess[] {
  const all = [...excessOf({ ...search, multipv: 1, movetimeMs: undefined }, plan)];
  const { multipvMax, reviewPliesMax, rates } = plan.limits;
  if (lines > multipvMax) {
    all.push(numberOver("/lines", lines, 1, multipvMax, `lines up to ${multipvMax}`));
  }
  const quotas = rates.filter(({ unit }) => unit === "request").map(({ quota }) => quota);
  // There is one position more than there are plies.
  const maxPlies = Math.min(reviewPliesMax, Math.min(...quotas) * positionsOfRequest - 1);
  if (plies > maxPlies) {
    const allowed = `reviews of up to ${maxPlies} plies`;
    all.push({ asked: plies, allowed, fault: faultOver(pointer, plies, maxPlies, shortened(maxPlies)) });
  }
  return all;
}

/** Positions of a game that are evaluated for what counts as one request. */
const positionsOfRequest = 10;

/** How many requests a review counts for. */
export function requestsOfReview(positions: number): number {
  return Math.max(1, Math.ceil(positions / positionsOfRequest));
}

function numberOver(
  pointer: string,
  asked: number,
  minimum: number,
  maximum: number,
  allowed: string,
): Excess {
  return { asked, allowed, fault: faultOver(pointer, asked, maximum, { minimum, maximum }) };
}

function faultOver(pointer: string, asked: number, maximum: number, allowed: Fault["allowed"]): Fault {
  return {
    pointer,
    code: "over_plan_limit",
    message: `${asked} is more than the plan's maximum of ${maximum}.`,
    ...(allowed && { allowed }),
  };
}

/** Who asks too much, and what more there is to have. */
interface Upgrading {
  readonly plan: Plan;
  /** The plans of the service, smallest first. */
  readonly plans: readonly Plan[];
  /** Plan of the keys that callers get by themselves; undefined where they get none. */
  readonly selfServicePlan: string | undefined;
  /** Whether a plan could run the request. */
  readonly runs: (plan: Plan) => boolean;
}

/** `upgrade_needed`: what is too much, the plan that allows it, and what to do. */
export function upgradeNeeded(
  excess: readonly Excess[],
  { plan, plans, selfServicePlan, runs }: Upgrading,
): KibitzError {
  const better = plans.find((other) => other.requiresKey && other !== plan && runs(other));
  const canGet = better !== undefined && better.id === selfServicePlan && !plan.requiresKey;
  const nextAction: NextAction = canGet ? "get_api_key" : "reduce_limits";
  const who = plan.requiresKey ? `Keys of the plan "${plan.id}"` : "Keyless calls";
  const allowed = excess.map((one) => one.allowed).join(", ");
  const asked = excess.map((one) => one.asked).join(", ");
  const detail = `${who} may ask for ${allowed}; this request asks for ${asked}.`;
  return new KibitzError("upgrade_needed", detail, {
    faults: excess.map(({ fault }) => fault),
    nextAction,
    ...(better && { upgrade: { plan: better.id, url: canGet ? keyUrl : "/price" } }),
  });
}

/** Whether a plan could run a request of these limits. */
export const couldRun = (asked: Asked) => (plan: Plan) => allows(plan, asked);

/** The limits of a request. */
export type Asked = SearchLimits;

/** Expected time of the search in milliseconds, and which plans allow it as written. */
export interface Estimate {
  readonly typicalMs: number;
  /** Of every plan, in their order. */
  readonly allowed: readonly { readonly plan: string; readonly allowed: boolean }[];
}

/** @param expectedMs of such a search on this machine. */
export function estimateOf(asked: Asked, plans: readonly Plan[], expectedMs: number): Estimate {
  return {
    typicalMs: Math.round(expectedMs),
    allowed: plans.map((plan) => ({ plan: plan.id, allowed: allows(plan, asked) })),
  };
}

/** Whether a plan can run a request as written. */
function allows(plan: Plan, asked: Asked): boolean {
  return excessOf(asked, plan).length === 0;
}
