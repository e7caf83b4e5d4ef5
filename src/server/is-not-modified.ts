import type { NodeRequest } from "./node-message.ts";

/** Whether a request has the answer with this ETag already (RFC 9110 section 13.1.2, weak comparison). */
export function isNotModified({ headers }: NodeRequest, etag: string | null | undefined): boolean {
  const known = headers["if-none-match"];
  if (!known || !etag) {
    return false;
  }
  const tags: readonly string[] = known.match(/"[^"]*"/g) ?? [];
  return known.trim() === "*" || tags.includes(etag.replace(/^W\//, ""));
}
