import type { PlanLimits } from "../../../gen/chess/analysis/v1/analysis_pb.ts";

/** A review counts as one request for this number of positions. A test compares this number with the service. */
const positionsOfRequest = 10;

/** Returns the length in plies of the longest game whose review counts as this number of requests. */
export function pliesOfRequests(requests: number): number {
  // A game has one more position than it has plies.
  return requests * positionsOfRequest - 1;
}

/** Returns the length in plies of the longest game that the plan allows to review. The request quotas limit it too. */
export function reviewPliesMaxOf({ reviewPliesMax, rates }: PlanLimits): number {
  const quotas = rates.filter(({ unit }) => unit === "request");
  return Math.min(reviewPliesMax, ...quotas.map(({ quota }) => pliesOfRequests(Number(quota))));
}

export interface RateLimit {
  readonly name: string;
  readonly remaining: number;
  /** The number of units per window. */
  readonly quota: number | undefined;
  /** The length of the window in seconds. */
  readonly windowS: number | undefined;
}

/** Reads the headers `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitsFrom(headers: Headers): readonly RateLimit[] {
  const policies = itemsOf(headers.get("RateLimit-Policy") ?? "");
  return [...itemsOf(headers.get("RateLimit") ?? "")].map(([name, { r = 0 }]) => {
    const { q: quota, w: windowS } = policies.get(name) ?? {};
    return { name, remaining: r, quota, windowS };
  });
}

/** Reads items such as `"minute";r=59;t=60` into a map from their names to their parameters. */
function itemsOf(field: string): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const items = field.matchAll(/"([^"]*)"((?:\s*;\s*[a-z]+=\d+)*)/g);
  return new Map(
    [...items].map(([, name = "", parameters = ""]) => [
      name,
      Object.fromEntries(
        [...parameters.matchAll(/([a-z]+)=(\d+)/g)].map(([, key, number]) => [key, Number(number)]),
      ),
    ]),
  );
}
