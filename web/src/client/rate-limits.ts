/** A quota of the caller, from the header fields of an answer. */
export interface RateLimit {
  readonly name: string;
  /** Units left of this window. */
  readonly remaining: number;
  /** Units of a window; undefined if the policy does not say. */
  readonly quota: number | undefined;
  /** Length of the window in seconds; undefined if the policy does not say. */
  readonly windowS: number | undefined;
}

/** Reads `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10); none if nothing is limited. */
export function rateLimitsFrom(headers: Headers): readonly RateLimit[] {
  const policies = itemsOf(headers.get("RateLimit-Policy") ?? "");
  return [...itemsOf(headers.get("RateLimit") ?? "")].map(([name, { r = 0 }]) => {
    const { q: quota, w: windowS } = policies.get(name) ?? {};
    return { name, remaining: r, quota, windowS };
  });
}

/** A list of structured fields: quoted names, each with numbers, `"minute";r=59;t=60`. */
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
