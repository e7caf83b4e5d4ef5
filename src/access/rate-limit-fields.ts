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
 * Sets two headers of draft-ietf-httpapi-ratelimit-headers-10, such as `"minute";q=60;w=60` and `"minute";r=59;t=42`, the tightest
 * window first. Engine time is in seconds, rounded down.
 * @param reached the window that refuses the request: this window is first, and its `t` equals `Retry-After`
 */
export function setRateLimitHeaders(
  { answerHeaders, uncounted }: RequestOutcome,
  counted: readonly RateWindow[],
  reached?: RateWindow,
): void {
  const others = counted.filter(({ policy }) => policy.name !== reached?.policy.name);
  const windows = [...(reached ? [reached] : []), ...tightestFirst(others)];
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

/** Compares the shares of the quotas that are left. If nothing is left of two windows, the window that ends last is tighter. */
function tightestFirst(windows: readonly RateWindow[]): readonly RateWindow[] {
  const shareOf = ({ policy, remaining }: RateWindow) => remaining / policy.quota;
  return windows.toSorted(
    (a, b) => shareOf(a) - shareOf(b) || (a.remaining === 0 ? b.resetMs - a.resetMs : 0),
  );
}

function shown({ unit }: RatePolicy, amount: number): number {
  return unit === "engine_ms" ? Math.floor(amount / 1000) : amount;
}

export function hasRateLimitHeaders({ answerHeaders }: RequestOutcome): boolean {
  return answerHeaders.has("ratelimit");
}
