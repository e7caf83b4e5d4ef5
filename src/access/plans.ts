/** What a group of callers may ask. The same data is enforced and shown by `GET /price`. */
export interface Plan {
  readonly id: string;
  readonly requiresKey: boolean;
  readonly limits: PlanLimits;
}

export interface PlanLimits {
  /** Plies. */
  readonly depthMax: number;
  readonly multipvMax: number;
  readonly movetimeMaxMs: number;
  /** Searches at a time; undefined if not limited. */
  readonly concurrent: number | undefined;
  readonly rates: readonly RatePolicy[];
}

/** A quota over a time window. */
export interface RatePolicy {
  readonly name: string;
  readonly quota: number;
  readonly windowS: number;
  readonly unit: "request" | "engine_ms";
}

/** The interface's own bounds, and no quota: everybody may ask everything that the API can say. */
export const openPlan: Plan = {
  id: "keyless",
  requiresKey: false,
  limits: { depthMax: 30, multipvMax: 10, movetimeMaxMs: 60_000, concurrent: undefined, rates: [] },
};
