import type { Caller } from "../caller.ts";
import type { RateWindow } from "./counters.ts";

/**
 * Leaves with the caller the header fields of their windows, as draft-ietf-httpapi-ratelimit-headers-10 writes them:
 * `"minute";q=60;w=60` and `"minute";r=59;t=42`. Nothing where nothing is limited.
 */
export function leaveRateLimitFields({ answerHeaders }: Caller, windows: readonly RateWindow[]): void {
  if (windows.length === 0) {
    return;
  }
  const policies = windows.map(({ policy: { name, quota, windowS } }) => `"${name}";q=${quota};w=${windowS}`);
  const states = windows.map(
    ({ policy, remaining, resetMs }) => `"${policy.name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  );
  answerHeaders.set("ratelimit-policy", policies.join(", "));
  answerHeaders.set("ratelimit", states.join(", "));
}

/** Whether the fields are there already. */
export function hasRateLimitFields({ answerHeaders }: Caller): boolean {
  return answerHeaders.has("ratelimit");
}
