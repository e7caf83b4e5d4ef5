import { createWindows, type RateWindow, type Windows, windowFrom } from "./counters.ts";
import type { Plan, RatePolicy } from "./plans.ts";

/**
 * Counts calls that are not analyses, by the address of their callers and on this node alone: they cost little, and their counting
 * must cost less.
 */
export interface CallRates {
  /** Counts a call and returns undefined, or returns the used-up window and counts nothing. */
  take(address: string, plan: Plan): RateWindow | undefined;
  /** Uncounts a call that turned out to be an analysis. */
  giveBack(address: string, plan: Plan): void;
}

const policiesOf = ({ limits }: Plan) => limits.rates.filter(({ unit }) => unit === "call");

export function createCallRates(): CallRates {
  /** By their length, in seconds: the plans of callers at one address share them. */
  const windowsOf = new Map<number, Windows>();

  function windowsFor({ windowS }: RatePolicy): Windows {
    const windows = windowsOf.get(windowS) ?? createWindows(windowS * 1000);
    windowsOf.set(windowS, windows);
    return windows;
  }

  return {
    take(address, plan) {
      const policies = policiesOf(plan);
      for (const policy of policies) {
        const use = windowsFor(policy).of(address);
        if (use && use.used >= policy.quota) {
          return windowFrom(policy, use);
        }
      }
      for (const policy of policies) {
        windowsFor(policy).add(address, 1);
      }
      return undefined;
    },
    giveBack(address, plan) {
      for (const policy of policiesOf(plan)) {
        windowsFor(policy).add(address, -1);
      }
    },
  };
}
