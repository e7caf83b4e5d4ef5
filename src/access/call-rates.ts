import { createWindows } from "../storage/memory/windows.ts";
import { type Plan, ratesOf } from "./plans.ts";
import { type RateWindow, windowFrom } from "./rate-limit-fields.ts";

/** Limits the calls that need no engine, by address. Each node counts separately, because these calls cost little. */
export function createCallRates() {
  const windows = createWindows();
  /** Callers at one address share a window even if their plans differ. */
  const windowsOf = (subject: string, plan: Plan) =>
    ratesOf(plan, "call").map((policy) => ({
      policy,
      window: { rate: "calls", subject, windowMs: policy.windowS * 1000 },
    }));
  return {
    /** Counts a call, or returns the window that is used up. */
    take(address: string, plan: Plan): RateWindow | undefined {
      const counted = windowsOf(address, plan);
      const usedUp = counted
        .map(({ policy, window }) => windowFrom(policy, windows.of(window)))
        .find(({ remaining }) => remaining === 0);
      if (usedUp === undefined) {
        for (const { window } of counted) {
          windows.add(window, 1);
        }
      }
      return usedUp;
    },
    giveBack(address: string, plan: Plan): void {
      for (const { window } of windowsOf(address, plan)) {
        windows.add(window, -1);
      }
    },
  };
}
