import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import Negotiator from "negotiator";
import { KibitzError } from "../errors/errors.ts";
import { ClientDisconnected, outcomeOf, type RequestOutcome } from "../request/context.ts";
import { now, soon } from "../time/time.ts";

export type NodeRequest = IncomingMessage | Http2ServerRequest;

export type NodeResponse = ServerResponse | Http2ServerResponse;

/** Returns false if this handler does not answer the request. The next handler then gets the unread request. */
export type RequestHandler = (req: NodeRequest, res: NodeResponse) => boolean | Promise<boolean>;

export function isPreflight({ method, headers }: Pick<IncomingMessage, "method" | "headers">): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

export function isGone(res: NodeResponse): boolean {
  // By its type, an Http2ServerResponse has the property `destroyed`. In fact, the property is missing.
  return "stream" in res ? res.stream.destroyed || res.stream.closed : res.destroyed;
}

/** False if the HTTP/2 stream was closed before the complete body arrived. */
export function hasArrived(req: NodeRequest): boolean {
  return !("stream" in req) || !req.stream.closed;
}

export function lateRequest(): KibitzError {
  return new KibitzError("request_timeout", "The request did not arrive in time.");
}

/** Aborts a response that cannot be completed. The client can then see that the answer is not complete. */
export function abortResponse(res: NodeResponse): void {
  if ("stream" in res) {
    // `destroy()` would send NO_ERROR, which means a complete response (RFC 9113 section 8.1).
    res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    res.destroy();
  }
}

/** Calls `report` if the client disconnects before the end of the response, or has already disconnected. */
function onLeave(res: NodeResponse, report: () => void): void {
  const leave = () => {
    // Node also emits `close` after a complete response.
    if (!res.writableEnded || outcomeOf(res.req).hasFailed) {
      report();
    }
  };
  if (isGone(res)) {
    leave();
  } else {
    res.once("close", leave);
  }
}

/** Returns a signal that aborts with ClientDisconnected if the client disconnects before the end of the response. */
export function leaveSignal(res: NodeResponse): AbortSignal {
  const controller = new AbortController();
  onLeave(res, () => controller.abort(new ClientDisconnected()));
  return controller.signal;
}

/** Sets `outcome.code` to `canceled` if the client disconnects before its request becomes a call. */
export function cancelOnLeave(res: NodeResponse, outcome: RequestOutcome): void {
  res.prependOnceListener("close", () => {
    if (!res.writableEnded && !outcome.hasLine) {
      outcome.code ??= "canceled";
    }
  });
}

/**
 * The longest piece of an answer that is written at once. Node tells only when a complete piece has been sent: with longer
 * pieces, a slow client would seem to read nothing.
 */
const pieceBytes = 16 * 1024;

/**
 * Divides bytes into pieces, so that a slow client can be told from a client that reads nothing. After each piece, the event loop
 * must get a turn: Node calls back at once if the kernel takes a piece, and many long answers would block other callers.
 */
export function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
  }
}

/** Ends the response with a body. A long body is written as fast as the client reads. */
export function endInParts(res: NodeResponse, body: Uint8Array): void {
  // HTTP/1.1 and HTTP/2 responses both accept strings and bytes, but TypeScript cannot combine their overloads.
  const response = res as ServerResponse;
  if (body.length <= pieceBytes) {
    response.end(body);
    return;
  }
  const pieces = piecesOf(body);
  const outcome = outcomeOf(res.req);
  const next = () => {
    outcome.pieceSentAt = now();
    const { value, done } = pieces.next();
    if (done) {
      response.end();
    } else if (!isGone(res)) {
      response.write(value, () => soon(next));
    }
  };
  next();
}

/** Writes a part of the response. Waits if the client reads slowly. Resolves with false if the client has disconnected. */
export async function writePart(res: NodeResponse, part: string | Uint8Array): Promise<boolean> {
  // Convert strings to bytes. A joined string that waits to be sent would need several times as much memory.
  const bytes = typeof part === "string" ? Buffer.from(part) : part;
  const isLong = bytes.length > pieceBytes;
  for (const piece of piecesOf(bytes)) {
    if (isGone(res)) {
      return false;
    }
    await writePiece(res as ServerResponse, piece, isLong);
    outcomeOf(res.req).pieceSentAt = now();
  }
  return !isGone(res);
}

/** Resolves when more can be written, or when the piece has been sent if `isSent` is true. */
function writePiece(res: ServerResponse, piece: Uint8Array, isSent: boolean): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      res.off("drain", settle).off("close", settle);
      resolve();
    };
    res.on("close", settle);
    if (isSent) {
      res.write(piece, () => soon(settle));
    } else if (res.write(piece)) {
      settle();
    } else {
      res.on("drain", settle);
    }
  });
}

/** Restarts the idle timeout of the connection. Call this function regularly if the client waits for minutes. */
export function keepOpen(res: NodeResponse): void {
  const connection: KeptOpen | null | undefined = "stream" in res ? res.stream?.session : res.socket;
  const { timeout } = connection ?? {};
  if (timeout) {
    connection?.setTimeout(timeout);
  }
}

/** An HTTP/2 session of Node has the property `timeout`, but the type of the session lacks this property. */
interface KeptOpen {
  readonly timeout?: number;
  setTimeout(ms: number): unknown;
}

export function addVary(res: NodeResponse, headers: string): void {
  const known = res.getHeader("Vary");
  res.setHeader("Vary", known === undefined ? headers : `${known}, ${headers}`);
}

/** True if the client already has the answer with this ETag. A weak ETag equals a strong ETag (RFC 9110 section 13.1.2). */
export function isNotModified({ headers }: NodeRequest, etag: string | null | undefined): boolean {
  const known = headers["if-none-match"];
  if (!known || !etag) {
    return false;
  }
  const tags: readonly string[] = known.match(/"[^"]*"/g) ?? [];
  return known.trim() === "*" || tags.includes(etag.replace(/^W\//, ""));
}

/** A longer Accept header is not parsed, because parsing 16 KiB takes milliseconds. */
const acceptMaxLength = 1000;

/** Returns the media type in `offers` that the client prefers (RFC 9110 section 12.5.1), or undefined if none is accepted. */
export function preferredType(accept: string | undefined, offers: readonly string[]): string | undefined {
  const [first] = offers;
  if (accept === undefined || accept === "*/*" || accept === first) {
    return first;
  }
  if (accept.length > acceptMaxLength || accept.trim() === "") {
    return first;
  }
  // Many clients add a charset to the type, but for Negotiator, a type with a parameter is a different type.
  const spelled = offers.flatMap((offer) => [offer, `${offer};charset=utf-8`, `${offer};charset=utf8`]);
  const found = new Negotiator({ headers: { accept } }).mediaType(spelled);
  return found === undefined ? undefined : offers[Math.floor(spelled.indexOf(found) / 3)];
}
