import { KibitzError } from "../errors/errors.ts";
import { durationText } from "../text/plain-text.ts";
import type { Account } from "./account.ts";
import type { Limits, Refusal } from "./limits.ts";
import type { Plan } from "./plans.ts";
import type { RateWindow } from "./rate-limit-fields.ts";

/** Retry-After counts whole seconds: rounded up and at least one, so that a caller who waits exactly so long is not too early. */
const secondsOf = (ms: number) => Math.max(1, Math.ceil(ms / 1000));

/** The error for a request that the limits refuse now. */
export function errorFromRefusal(refusal: Refusal, { plan }: Account, requests = 1): KibitzError {
  const seconds = secondsOf(refusal.retryAfterMs);
  const options = { retryAfterMs: seconds * 1000, quota: `${plan.id}/${refusal.limit}` };
  const { code, quota } = refusal;
  const wait = durationText(seconds);
  switch (code) {
    case "rate_limited":
      return new KibitzError(
        code,
        requests > 1
          ? `This review counts for ${requests} requests, and fewer are left of the ${quota} in this window. Try again in ${wait}.`
          : `The limit of ${quota} ${quota === 1 ? "request" : "requests"} in this window is reached. Try again in ${wait}.`,
        options,
      );
    case "quota_exhausted":
      return new KibitzError(
        code,
        `The ${quota / 1000} s of engine time in this window are used up: more is available in ${wait}.`,
        options,
      );
    case "concurrency_limited":
      return new KibitzError(
        code,
        `The plan's maximum of ${quota} ${quota === 1 ? "search" : "searches"} at a time is reached: one of them should end within ${wait}.`,
        options,
      );
  }
}

/** Checks if the caller could make any request now. @throws KibitzError `rate_limited`, `quota_exhausted` */
export async function refuseUsedUp(limits: Pick<Limits, "allWindowsOf">, account: Account): Promise<void> {
  const windows = await limits.allWindowsOf(account);
  const usedUp = windows.filter(({ policy, remaining }) => remaining === 0 && policy.unit !== "refusal");
  // If several windows are used up, the caller has to wait for the last one.
  const last = usedUp.toSorted((one, other) => other.resetMs - one.resetMs)[0];
  if (last) {
    const { name: limit, quota, unit } = last.policy;
    const code = unit === "request" ? "rate_limited" : "quota_exhausted";
    throw errorFromRefusal({ code, limit, quota, retryAfterMs: last.resetMs }, account);
  }
}

/** @throws KibitzError `rate_limited` if the caller has used up its error quota */
export function refuseSpent({ refusals }: Limits, account: Account): void {
  const spent = refusals.spentBy(account);
  if (spent) {
    const { limit, quota, retryAfterMs } = spent;
    const seconds = secondsOf(retryAfterMs);
    throw new KibitzError(
      "rate_limited",
      `The limit of ${quota} ${quota === 1 ? "refusal" : "refusals"} in this window is reached: too many requests were wrong, beyond the plan, or had an unknown API key. Try again in ${durationText(seconds)}, with requests that can be answered.`,
      { retryAfterMs: seconds * 1000, quota: `${account.plan.id}/${limit}` },
    );
  }
}

/** The error for a call that exceeds the rate of its address. */
export function tooManyCalls({ policy, resetMs }: RateWindow, { id }: Plan): KibitzError {
  const seconds = secondsOf(resetMs);
  return new KibitzError(
    "rate_limited",
    `The limit of ${policy.quota} calls in ${durationText(policy.windowS)} is reached for your address (analyses have limits of their own). Try again in ${durationText(seconds)}.`,
    { retryAfterMs: seconds * 1000, quota: `${id}/${policy.name}` },
  );
}

/** The error for a caller who has as many batches and reviews under way as its plan allows. */
export function tooManyLongCalls(max: number, waitMs: number, { id }: Plan): KibitzError {
  const seconds = secondsOf(waitMs);
  const what = max === 1 ? "batch or review" : "batches and reviews";
  return new KibitzError(
    "concurrency_limited",
    `The plan's maximum of ${max} ${what} at a time is reached: one of them should end within ${durationText(seconds)}.`,
    { retryAfterMs: seconds * 1000, quota: `${id}/concurrent` },
  );
}
