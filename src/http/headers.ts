import Negotiator from "negotiator";
import type { NodeRequest, NodeResponse } from "./message.ts";

/** Says that an answer depends on a header of its request, beside those that it is said to depend on already. */
export function addVary(res: NodeResponse, header: string): void {
  const told = res.getHeader("Vary");
  res.setHeader("Vary", told === undefined ? header : `${told}, ${header}`);
}

/** Whether a request has the answer with this ETag already (RFC 9110 section 13.1.2, weak comparison). */
export function isNotModified({ headers }: NodeRequest, etag: string | null | undefined): boolean {
  const known = headers["if-none-match"];
  if (!known || !etag) {
    return false;
  }
  const tags: readonly string[] = known.match(/"[^"]*"/g) ?? [];
  return known.trim() === "*" || tags.includes(etag.replace(/^W\//, ""));
}

/** Longer than any browser's or library's. What is longer is disregarded: to read 16 KiB takes milliseconds. */
const acceptMaxLength = 1000;

/**
 * The media type that an Accept header asks for among those offered: of the highest quality, then the most exactly
 * named, then the one named first (RFC 9110 section 12.5.1). Where the header does not decide, it is the first offer.
 * Undefined if the header lets none pass.
 */
export function preferredType(accept: string | undefined, offers: readonly string[]): string | undefined {
  const [first] = offers;
  if (accept === undefined || accept === "*/*" || accept === first) {
    return first;
  }
  if (accept.length > acceptMaxLength || accept.trim() === "") {
    return first;
  }
  // All that is offered is UTF-8, and many say so: for Negotiator a range with a parameter is another type.
  const spelled = offers.flatMap((offer) => [offer, `${offer};charset=utf-8`]);
  const found = new Negotiator({ headers: { accept } }).mediaType(spelled);
  return found === undefined ? undefined : offers[Math.floor(spelled.indexOf(found) / 2)];
}
