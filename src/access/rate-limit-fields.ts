import type { RequestOutcome } from "../request/context.ts";
import type { WindowUse } from "../storage/ports.ts";
import type { RatePolicy } from "./plans.ts";

export interface RateWindow {
  readonly policy: RatePolicy;
  readonly remaining: number;
  readonly resetMs: number;
}

export function windowFrom(policy: RatePolicy, { used, endsInMs }: WindowUse): RateWindow {
  return { policy, remaining: Math.max(0, policy.quota - used), resetMs: endsInMs };
}

/**
 * Sets two headers of draft-ietf-httpapi-ratelimit-headers-10, such as `"minute";q=60;w=60` and `"minute";r=59;t=42`. Engine time
 * is in seconds, rounded down.
 */
export function setRateLimitHeaders(
  { answerHeaders, uncounted }: RequestOutcome,
  windows: readonly RateWindow[],
): void {
  if (windows.length === 0) {
    return;
  }
  const policies = windows.map(
    ({ policy }) => `"${policy.name}";q=${shown(policy, policy.quota)};w=${policy.windowS}`,
  );
  const states = windows.map(({ policy, remaining, resetMs }) => {
    const left = policy.unit === "request" ? Math.max(0, remaining - uncounted) : remaining;
    return `"${policy.name}";r=${shown(policy, left)};t=${Math.ceil(resetMs / 1000)}`;
  });
  answerHeaders.set("ratelimit-policy", policies.join(", "));
  answerHeaders.set("ratelimit", states.join(", "));
}

function shown({ unit }: RatePolicy, amount: number): number {
  return unit === "engine_ms" ? Math.floor(amount / 1000) : amount;
}

export function hasRateLimitHeaders({ answerHeaders }: RequestOutcome): boolean {
  return answerHeaders.has("ratelimit");
}
