import Negotiator from "negotiator";

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
