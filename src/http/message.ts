import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import Negotiator from "negotiator";
import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";

export type NodeRequest = IncomingMessage | Http2ServerRequest;

export type NodeResponse = ServerResponse | Http2ServerResponse;

/** Returns false if the request is left, unread, to the next handler. */
export type RequestHandler = (req: NodeRequest, res: NodeResponse) => boolean | Promise<boolean>;

export function isPreflight({ method, headers }: Pick<IncomingMessage, "method" | "headers">): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

export function isGone(res: NodeResponse): boolean {
  // Node's types promise `destroyed` for both, but an Http2ServerResponse lacks it.
  return "stream" in res ? res.stream.destroyed || res.stream.closed : res.destroyed;
}

/** False if the body ended only because the HTTP/2 stream closed: the client disconnected or was too slow. */
export function hasArrived(req: NodeRequest): boolean {
  return !("stream" in req) || !req.stream.closed;
}

export function lateRequest(): KibitzError {
  return new KibitzError("request_timeout", "The request did not arrive in time.");
}

/** Aborts a response that cannot be finished, so that a part is not mistaken for the complete answer. */
export function cutShort(res: NodeResponse): void {
  if ("stream" in res) {
    // `destroy()` would send NO_ERROR, as after a complete response (RFC 9113 section 8.1).
    res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    res.destroy();
  }
}

/** Calls `report` if the client disconnects before the response has ended, even if that was earlier. */
export function onLeave(res: NodeResponse, report: () => void): void {
  const leave = () => {
    // Node emits `close` after a complete response too.
    if (!res.writableEnded) {
      report();
    }
  };
  if (isGone(res)) {
    leave();
  } else {
    res.once("close", leave);
  }
}

/** Sets the code `canceled` if the client disconnects before its request is a call, which logs its own end. */
export function cancelOnLeave(res: NodeResponse, outcome: RequestOutcome): void {
  res.prependOnceListener("close", () => {
    if (!res.writableEnded && !outcome.hasLine) {
      outcome.code ??= "canceled";
    }
  });
}

/** Writes a part, and waits until there is room for more. Resolves with false if the client has disconnected. */
export function writePart(res: NodeResponse, part: string | Uint8Array): Promise<boolean> {
  if (isGone(res)) {
    return Promise.resolve(false);
  }
  // Both kinds of responses accept both kinds of parts, but their overloads disagree.
  const response = res as ServerResponse;
  // Write bytes: a string of joined pieces takes several times the memory while it waits.
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

/** Restarts the idle timeout of a connection while its client waits for minutes. */
export function keepOpen(res: NodeResponse): void {
  const connection: KeptOpen | null | undefined = "stream" in res ? res.stream?.session : res.socket;
  const { timeout } = connection ?? {};
  if (timeout) {
    connection?.setTimeout(timeout);
  }
}

/** An HTTP/2 session also has `timeout`, which its type lacks. */
interface KeptOpen {
  readonly timeout?: number;
  setTimeout(ms: number): unknown;
}

export function addVary(res: NodeResponse, headers: string): void {
  const known = res.getHeader("Vary");
  res.setHeader("Vary", known === undefined ? headers : `${known}, ${headers}`);
}

/** True if the client already has the answer with this ETag (RFC 9110 section 13.1.2, weak comparison). */
export function isNotModified({ headers }: NodeRequest, etag: string | null | undefined): boolean {
  const known = headers["if-none-match"];
  if (!known || !etag) {
    return false;
  }
  const tags: readonly string[] = known.match(/"[^"]*"/g) ?? [];
  return known.trim() === "*" || tags.includes(etag.replace(/^W\//, ""));
}

/** The maximum length of an Accept header: longer than any browser's. Parsing a header of 16 KiB takes milliseconds. */
const acceptMaxLength = 1000;

/**
 * Returns the offered type with the highest quality, then the most specific, then the first in the header (RFC 9110 section
 * 12.5.1). Returns the first offer if the header does not decide, and undefined if it accepts none.
 */
export function preferredType(accept: string | undefined, offers: readonly string[]): string | undefined {
  const [first] = offers;
  if (accept === undefined || accept === "*/*" || accept === first) {
    return first;
  }
  if (accept.length > acceptMaxLength || accept.trim() === "") {
    return first;
  }
  // Many clients name the charset, but Negotiator treats a type with a parameter as another type.
  const spelled = offers.flatMap((offer) => [offer, `${offer};charset=utf-8`, `${offer};charset=utf8`]);
  const found = new Negotiator({ headers: { accept } }).mediaType(spelled);
  return found === undefined ? undefined : offers[Math.floor(spelled.indexOf(found) / 3)];
}
