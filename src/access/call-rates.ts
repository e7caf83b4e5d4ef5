import { KibitzError } from "../errors/errors.ts";
import { durationText } from "../text/plain-text.ts";
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

/** The plan that allows most calls. */
export function planOfMostCalls(plans: readonly [Plan, ...Plan[]]): Plan {
  const quotaOf = (plan: Plan) => Math.min(...policiesOf(plan).map(({ quota }) => quota));
  return plans.reduce((most, plan) => (quotaOf(plan) > quotaOf(most) ? plan : most));
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

/** The error for a call that exceeds the rate of its address. */
export function tooManyCalls({ policy, resetMs }: RateWindow, { id }: Plan): KibitzError {
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  return new KibitzError(
    "rate_limited",
    `The limit of ${policy.quota} calls in ${durationText(policy.windowS)} is reached for your address (analyses have limits of their own). Try again in ${durationText(seconds)}.`,
    { retryAfterMs: seconds * 1000, quota: `${id}/${policy.name}` },
  );
}
