import type { SearchLimits } from "../analysis/expected-time.ts";
import type { Plan } from "./plans.ts";

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
export function allows({ limits }: Plan, { depth, multipv, movetimeMs }: Asked): boolean {
  return (
    depth <= limits.depthMax && multipv <= limits.multipvMax && (movetimeMs ?? 0) <= limits.movetimeMaxMs
  );
}
