import { restMs } from "../analysis/expected-time.ts";
import type { ErrorCode } from "../errors/catalog.ts";
import { KibitzError } from "../errors/errors.ts";
import type { RunningSearch } from "../storage/ports.ts";
import { durationText } from "../text/duration-text.ts";
import type { Account } from "./account.ts";
import { nameOf, type Plan, type RatePolicy } from "./plans.ts";
import type { RateWindow } from "./rate-limit-fields.ts";

export interface Refusal {
  readonly code: "rate_limited" | "quota_exhausted" | "concurrency_limited";
  readonly limit: string;
  readonly quota: number;
  /** Milliseconds until the same request would be accepted. For concurrent searches, the time is an estimate. */
  readonly retryAfterMs: number;
}

/** Rounds the wait up to full seconds, because a client that waits for a time rounded down would retry too early. */
function limitError(
  code: ErrorCode,
  quota: string,
  waitMs: number,
  detail: (wait: string) => string,
): KibitzError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new KibitzError(code, detail(durationText(seconds)), { retryAfterMs: seconds * 1000, quota });
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

export function errorFromRefusal(
  { code, limit, quota, retryAfterMs }: Refusal,
  { plan }: Account,
  requests = 1,
): KibitzError {
  return limitError(code, `${plan.id}/${limit}`, retryAfterMs, (wait) => {
    switch (code) {
      case "rate_limited":
        return requests > 1
          ? `This review counts for ${requests} requests, and fewer are left of the ${quota} in this window. Try again in ${wait}.`
          : `The limit of ${counted(quota, "request", "requests")} in this window is reached. Try again in ${wait}.`;
      case "quota_exhausted":
        return `The ${quota / 1000} s of engine time in the window ${limit} are used up: more is available in ${wait}.`;
      case "concurrency_limited":
        return `The plan's maximum of ${counted(quota, "search", "searches")} at a time is reached: one of them should end within ${wait}.`;
    }
  });
}

export function errorQuotaExceeded(policy: RatePolicy, waitMs: number, plan: Plan): KibitzError {
  return limitError(
    "rate_limited",
    nameOf(plan.id, policy),
    waitMs,
    (wait) =>
      `The limit of ${counted(policy.quota, "refusal", "refusals")} in this window is reached: too many requests were wrong, beyond the plan, or had an unknown API key. Try again in ${wait}, with requests that can be answered.`,
  );
}

export function tooManyCalls({ policy, resetMs }: RateWindow, plan: Plan): KibitzError {
  return limitError(
    "rate_limited",
    nameOf(plan.id, policy),
    resetMs,
    (wait) =>
      `The limit of ${policy.quota} calls in ${durationText(policy.windowS)} is reached for your address (analyses have limits of their own). Try again in ${wait}.`,
  );
}

export function tooManyLongCalls(max: number, waitMs: number, { id }: Plan): KibitzError {
  const calls = counted(max, "batch or review", "batches and reviews");
  return limitError(
    "concurrency_limited",
    `${id}/concurrent`,
    waitMs,
    (wait) => `The plan's maximum of ${calls} at a time is reached: one of them should end within ${wait}.`,
  );
}

/** Returns the milliseconds until the first of these searches or calls is expected to end. */
export function firstFreeMs(running: readonly RunningSearch[]): number {
  const rests = running.map(({ expectedMs, elapsedMs }) => restMs(expectedMs, elapsedMs));
  return rests.length === 0 ? 0 : Math.min(...rests);
}
