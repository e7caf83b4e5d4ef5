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
