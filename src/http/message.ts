import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import Negotiator from "negotiator";
import { KibitzError } from "../errors/errors.ts";

/** A request as Node hands it over: HTTP/1.1 and HTTP/2 come through one port. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** The answer to a {@link NodeRequest}. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/**
 * Answers a request, now or later; `false` says that the request is another handler's, and is untouched. A promise of
 * that is for what has to be found out first.
 */
export type RequestHandler = (req: NodeRequest, res: NodeResponse) => boolean | Promise<boolean>;

/** Whether a browser asks what a page may ask. The edge answers that itself. */
export function isPreflight({
  method,
  headers,
}: {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

/** Whether nobody waits for the answer any more. */
export function isGone(res: NodeResponse): boolean {
  // Node's types promise `destroyed` for both, but an Http2ServerResponse has none.
  return "stream" in res ? res.stream.destroyed || res.stream.closed : res.destroyed;
}

/**
 * Whether a request whose body has ended was sent to its end. One whose stream was closed, because it did not arrive in time or its
 * caller has left, ends over HTTP/2 as one that is whole.
 */
export function hasArrived(req: NodeRequest): boolean {
  return !("stream" in req) || !req.stream.closed;
}

/** What a request is refused for whose sender takes too long. */
export function lateRequest(): KibitzError {
  return new KibitzError("request_timeout", "The request did not arrive in time.");
}

/** Ends an answer that cannot be finished, so that its reader does not take half of it for the whole. */
export function cutShort(res: NodeResponse): void {
  if ("stream" in res) {
    // To destroy it would say NO_ERROR, as for an answer that is complete (RFC 9113 section 8.1).
    res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    res.destroy();
  }
}

/** Tells when the caller leaves before the answer has been written to its end: at once, if nobody waits any more. */
export function onLeave(res: NodeResponse, tell: () => void): void {
  const leave = () => {
    // The response closes after every answer, too; nobody listens then, and an abort costs more than the call.
    if (!res.writableEnded) {
      tell();
    }
  };
  if (isGone(res)) {
    leave();
  } else {
    res.once("close", leave);
  }
}

/** Writes a part of an answer, and waits until its reader has room for more. `false` says that the reader is gone. */
export function writePart(res: NodeResponse, part: string | Uint8Array): Promise<boolean> {
  if (isGone(res)) {
    return Promise.resolve(false);
  }
  // Both kinds of responses take both kinds of parts, but the overloads of the two do not agree on it.
  const response = res as ServerResponse;
  // As bytes: a text that is joined of hundreds of pieces takes several times as much while it waits.
  if (response.write(typeof part === "string" ? Buffer.from(part) : part)) {
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve(!isGone(res));
    };
    response.on("drain", settle).on("close", settle);
  });
}

/** Lets the time of silence of a connection begin anew: its caller waits for an answer that takes minutes. */
export function keepOpen(res: NodeResponse): void {
  const connection: KeptOpen | null | undefined = "stream" in res ? res.stream?.session : res.socket;
  const { timeout } = connection ?? {};
  if (timeout) {
    connection?.setTimeout(timeout);
  }
}

/** Sessions of HTTP/2 have it, too, though their types do not say so. */
interface KeptOpen {
  readonly timeout?: number;
  setTimeout(ms: number): unknown;
}

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
