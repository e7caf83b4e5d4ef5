import { type SearchLimits, typicalMsOf } from "../analysis/expected-time.ts";
import type { Plan } from "./plans.ts";

/** The limits of a request. */
export type Asked = SearchLimits;

/** Typical time of the search in milliseconds, and which plans allow it as written. */
export interface Estimate {
  readonly typicalMs: number;
  /** By plan id. */
  readonly allowed: Readonly<Record<string, boolean>>;
}

export function estimateOf(asked: Asked, plans: readonly Plan[]): Estimate {
  return {
    typicalMs: typicalMsOf(asked),
    allowed: Object.fromEntries(plans.map((plan) => [plan.id, allows(plan, asked)])),
  };
}

/** Whether a plan can run a request as written. */
export function allows({ limits }: Plan, { depth, multipv, movetimeMs }: Asked): boolean {
  return (
    depth <= limits.depthMax && multipv <= limits.multipvMax && (movetimeMs ?? 0) <= limits.movetimeMaxMs
  );
}
