import * as crypto from "node:crypto";
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { v7 } from "uuid";
import { holdsKey } from "../text/plain-text.ts";

/** The protocols through which a call can come. */
export type Protocol = "json" | "mcp" | "connect" | "grpc" | "grpc-web" | "cli";

/**
 * Who asks, and how: what there is to know of a request before anybody answers it, whatever its protocol. What becomes
 * of it stands apart: `request/outcome`.
 *
 * Made once at the edge from the raw request, because reading and writing through `Headers` objects
 * costs a JSON call a third of its time.
 */
export interface RequestContext {
  /** Given by the caller in X-Request-Id if sane, else made. In every answer, error and log line. */
  readonly id: string;
  /**
   * The request's own span as the header `traceparent` (W3C Trace Context): in the trace of its sender, or where this
   * service keeps traces of its own, in that.
   */
  readonly traceparent: string | undefined;
  /** That span, where this service keeps it. */
  readonly span: RequestSpan | undefined;
  readonly protocol: Protocol;
  /** As sent, without its query; empty where the call comes from this process. */
  readonly path: string;
  /** Address of the other end of the connection. Kept, because that is gone when the answer has ended. */
  readonly address: string;
  /** The header X-Forwarded-For, verbatim: only the word of whoever sent it. */
  readonly forwardedFor: string | undefined;
  /** The Authorization header, verbatim. */
  readonly authorization: string | undefined;
  /** Whether there is a header X-API-Key, from which other services read keys. */
  readonly hasXApiKey: boolean;
}

/** The span of a request that is kept. What more it is, only `tracing` knows. */
export interface RequestSpan {
  readonly traceparent: string;
}

/** Begins the span of a request, where its trace is kept. */
export type BeginSpan = (
  request: Pick<RawRequest, "method" | "headers">,
  about: Pick<RequestContext, "protocol" | "path">,
) => RequestSpan | undefined;

/** Where agents are answered, in the Model Context Protocol. */
export const mcpPath = "/mcp";

interface RawRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

// On the requests themselves: of a map with weak keys, every collection of garbage looks at every entry.
const contextKey = Symbol("context");
const outcomeKey = Symbol("outcome");

interface Identified {
  [contextKey]?: RequestContext;
  [outcomeKey]?: RequestOutcome;
}

/**
 * Makes the context of a request, which {@link contextOf} finds from then on. For the edge alone: to make it again
 * would give the request another id.
 *
 * @param isRpcPath whether a path is below that of a service
 */
export function identifyRequest(
  request: RawRequest,
  isRpcPath: (path: string) => boolean,
  beginSpan?: BeginSpan,
): RequestContext {
  const { headers } = request;
  const path = pathFrom(request.url ?? "");
  const protocol = path === mcpPath ? "mcp" : protocolOf(request, isRpcPath(path));
  const span = beginSpan?.(request, { protocol, path });
  const context: RequestContext = {
    id: requestIdFrom(headers["x-request-id"]),
    traceparent: span?.traceparent ?? spanBelow(headers.traceparent),
    span,
    protocol,
    path,
    ...originOf(request),
    authorization: headers.authorization,
    hasXApiKey: headers["x-api-key"] !== undefined,
  };
  (request as Identified)[contextKey] = context;
  return context;
}

/** The context of a request that came through the edge. */
export function contextOf(request: object): RequestContext {
  const context = (request as Identified)[contextKey];
  if (context === undefined) {
    throw new TypeError("the request did not come through the edge: nobody has identified it");
  }
  return context;
}

/** The context of a call that comes from this process. */
export function localContext(): RequestContext {
  return {
    id: uuidv7(),
    traceparent: undefined,
    span: undefined,
    protocol: "cli",
    path: "",
    address: "local",
    forwardedFor: undefined,
    authorization: undefined,
    hasXApiKey: false,
  };
}

/**
 * Media types that only RPC clients send, so that an unknown service, too, is answered in their protocol. The answer
 * has the same type: nothing else that a caller writes there comes back.
 */
export const rpcType = /^application\/(grpc(-web(-text)?)?(\+[\w.-]{1,32})?|proto|connect\+[\w.-]{1,32})$/;

/** What a Content-Type says without its parameters, in lower case: RFC 9110 section 8.3.1 makes no difference. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * At the paths of the services it is one of three, as the content type says, and GET is always Connect; elsewhere it is
 * JSON, but for what only an RPC client posts.
 */
function protocolOf({ method, headers }: RawRequest, isOfService: boolean): Protocol {
  if (!isOfService && headers["content-type"] === "application/json") {
    return "json";
  }
  const type = mediaTypeOf(headers);
  if (!isOfService && !(method === "POST" && rpcType.test(type))) {
    return "json";
  }
  if (type.startsWith("application/grpc-web")) {
    return "grpc-web";
  }
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}

const saneRequestId = /^[\w.:-]{1,64}$/;

/** The id in an X-Request-Id header if that is sane, else a new one. It is logged: no key may be one. */
export function requestIdFrom(header: unknown): string {
  const sane = typeof header === "string" && saneRequestId.test(header) && !holdsKey(header);
  // This changes nothing, but makes one text of the twenty that Node puts together: `JSON.stringify` of a line in the log that
  // had to do so would take half as long again.
  return sane ? header : uuidv7().toLowerCase();
}

const traceparentPattern =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The place in a trace that a `traceparent` header names. */
export interface TracePlace {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the sender keeps the trace: of the flags the one that is known. */
  readonly sampled: boolean;
}

/** W3C Trace Context: what cannot be read is ignored, as if it had not been sent. */
export function tracePlaceOf(header: string | readonly string[] | undefined): TracePlace | undefined {
  if (header === undefined) {
    return undefined;
  }
  const [, version, traceId, spanId, flags, more] = traceparentPattern.exec(String(header)) ?? [];
  // Later versions may add fields, and are read as far as this one knows them.
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) {
    return undefined;
  }
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 };
}

/** A place as such a header. */
export function traceparentOf({ traceId, spanId, sampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-0${Number(sampled)}`;
}

/** A new span below the one that a `traceparent` header names, as such a header. Where there is none, it would help nobody. */
export function spanBelow(traceparent: string | readonly string[] | undefined): string | undefined {
  const place = tracePlaceOf(traceparent);
  return place && traceparentOf({ ...place, spanId: randomBytes(8).toString("hex") });
}

/** A request target without its query. */
export function pathFrom(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/** Where a request comes from, and for whom it says to be forwarded. */
export function originOf(
  request: Pick<RawRequest, "headers" | "socket">,
): Pick<RequestContext, "address" | "forwardedFor"> {
  const forwardedFor = request.headers["x-forwarded-for"];
  return {
    address: addressOf(request),
    forwardedFor: typeof forwardedFor === "object" ? forwardedFor.join() : forwardedFor,
  };
}

function addressOf({ socket }: Pick<RawRequest, "socket">): string {
  try {
    // The socket of a connection that is already gone has no address.
    return socket.remoteAddress ?? "unknown";
  } catch {
    // Node's stand-in for the socket of an HTTP/2 session throws when that is gone.
    return "unknown";
  }
}

/** What becomes of a request: written down by whoever answers it, for its answer and its line in the log. */
export interface RequestOutcome {
  /** Headers that are added to the answer, by lower-case name. */
  readonly answerHeaders: Map<string, string>;
  /** Why it was refused. */
  code: string | undefined;
  /** Which limit of which plan it was refused by: `keyless/minute`. */
  limit: string | undefined;
  /** Whether it has a line, will get one, or is to have none. */
  hasLine: boolean;
  /** Bytes of the body that have been read, unpacked where that is done before it is decoded. */
  readBytes: number;
  /** Whether it is a batch or a review that holds one of its caller's places for those. */
  isLong: boolean;
  /** Requests of a batch that have yet to be counted. The RateLimit fields say what is left when they are. */
  uncounted: number;
  /** What the call holds until it ends; undefined from then on. See {@link releaseAtEnd}. */
  held: (() => void)[] | undefined;
  /** When the last of its answer was written, by `performance.now()`, where its connection has to stay open for a while behind it. */
  answeredAt: number | undefined;
}

/** @param answerHeaders those that every answer to the request has */
export function createOutcome(answerHeaders?: readonly (readonly [string, string])[]): RequestOutcome {
  return {
    answerHeaders: new Map(answerHeaders),
    code: undefined,
    limit: undefined,
    hasLine: false,
    readBytes: 0,
    isLong: false,
    uncounted: 0,
    held: [],
    answeredAt: undefined,
  };
}

/** Releases something when the call ends, however it ends; at once if the call has ended. */
export function releaseAtEnd({ held }: RequestOutcome, release: () => void): void {
  if (held) {
    held.push(release);
  } else {
    release();
  }
}

/** Releases all that a call holds: its answer is written, or its caller has left. */
export function endCall(outcome: RequestOutcome): void {
  const { held = [] } = outcome;
  outcome.held = undefined;
  for (const release of held) {
    release();
  }
}

/** Thrown by the work on a request whose caller has left. */
export class CallerLeft extends Error {
  constructor() {
    super("the caller left");
  }
}

/** @throws CallerLeft if the call has ended: work on its request is in vain */
export function refuseLeft({ held }: RequestOutcome): void {
  if (held === undefined) {
    throw new CallerLeft();
  }
}

/** The outcome of a request that came through the edge, the same whoever asks. */
export function outcomeOf(request: object): RequestOutcome {
  const identified: Identified = request;
  const known = identified[outcomeKey];
  if (known) {
    return known;
  }
  const outcome = createOutcome();
  outcome.answerHeaders.set("x-request-id", contextOf(request).id);
  identified[outcomeKey] = outcome;
  return outcome;
}

/**
 * A UUID version 7: ids that sort by time. Node makes them from 26.1 on, ten times as fast as the
 * library, whose price would be a third of a JSON call.
 */
export const uuidv7: () => string = "randomUUIDv7" in crypto ? () => crypto.randomUUIDv7() : () => v7();
