import { type Plan, type RatePolicy, ratesOf } from "./plans.ts";
import { type RateWindow, windowFrom } from "./rate-limit-fields.ts";
import { createWindows } from "./windows.ts";

/** Counts calls that are not analyses, by the address of their callers and on this node alone: they cost little. */
export interface CallRates {
  /** Counts a call and returns undefined, or returns the used-up window and counts nothing. */
  take(address: string, plan: Plan): RateWindow | undefined;
  /** Uncounts a call that turned out to be an analysis. */
  giveBack(address: string, plan: Plan): void;
}

export function createCallRates(): CallRates {
  const windows = createWindows();
  /** Without the plan, because callers with different plans at one address share a window. */
  const windowOf = (address: string, { windowS }: RatePolicy) => ({
    rate: "calls",
    subject: address,
    windowMs: windowS * 1000,
  });
  const add = (address: string, plan: Plan, count: number) => {
    for (const policy of ratesOf(plan, "call")) {
      windows.add(windowOf(address, policy), count);
    }
  };
  return {
    take(address, plan) {
      for (const policy of ratesOf(plan, "call")) {
        const use = windows.of(windowOf(address, policy));
        if (use.used >= policy.quota) {
          return windowFrom(policy, use);
        }
      }
      add(address, plan, 1);
      return undefined;
    },
    giveBack: (address, plan) => add(address, plan, -1),
  };
}
