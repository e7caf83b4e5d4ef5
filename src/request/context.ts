import * as crypto from "node:crypto";
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Span } from "@opentelemetry/api";
import { v7 } from "uuid";
import { holdsKey } from "../text/plain-text.ts";

export type Protocol = "json" | "mcp" | "connect" | "grpc" | "grpc-web" | "cli";

/** Facts about a request from its headers and connection, made once by the listener. {@link RequestOutcome} has what changes. */
export interface RequestContext {
  /** The X-Request-Id header if it is well formed, otherwise a new id. Every answer, error and log line has this id. */
  readonly id: string;
  /** The request's span as a `traceparent` header (W3C Trace Context): in the client's trace, or in one that Kibitz records. */
  readonly traceparent: string | undefined;
  /** The span of the request; undefined if this service does not record it. */
  readonly span: RequestSpan | undefined;
  readonly protocol: Protocol;
  /** The path as sent, without the query. Empty if the call comes from this process. */
  readonly path: string;
  /** The peer's address. Kept because a closed socket no longer has it. */
  readonly address: string;
  /** The X-Forwarded-For header. Do not trust it: any client can send it. */
  readonly forwardedFor: string | undefined;
  readonly authorization: string | undefined;
  /** True if the request has an X-API-Key header, in which clients of other services send their key. */
  readonly hasXApiKey: boolean;
}

/** The recorded span of a request, from its headers to the end of its answer and log line. */
export interface RequestSpan {
  readonly traceparent: string;
  readonly span: Span;
  /** Call this when the request's log line is written. */
  logged(end: TracedEnd): void;
  /** Call this when the answer has ended, with no status if none was sent. `hasLine`: a log line is written, perhaps later. */
  answered(status: number | undefined, hasLine: boolean): void;
}

export interface TracedEnd {
  readonly code: string;
  /** Start of the request, as `performance.now()`. */
  readonly startedAt: number;
  readonly fields: {
    /** Name of the RPC, or the HTTP method if the request was rejected before it became a call. */
    readonly method?: string | undefined;
    /** Path of the request, if it was rejected before it became a call. */
    readonly request?: string | undefined;
    readonly depth?: number | undefined;
    readonly cached?: boolean | undefined;
  };
}

/** Begins the span of a request. Returns undefined if its trace is not recorded. */
export type BeginSpan = (
  request: Pick<RawRequest, "method" | "headers">,
  about: Pick<RequestContext, "protocol" | "path">,
) => RequestSpan | undefined;

export const mcpPath = "/mcp";

interface RawRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

const contextKey = Symbol("context");
const outcomeKey = Symbol("outcome");

interface Identified {
  [contextKey]?: RequestContext;
  [outcomeKey]?: RequestOutcome;
}

/** Makes the context of a request for {@link contextOf}. Only the listener calls this: a second call would give another id. */
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

/** Throws a TypeError if the listener has not identified the request. */
export function contextOf(request: object): RequestContext {
  const context = (request as Identified)[contextKey];
  if (context === undefined) {
    throw new TypeError("identifyRequest was not called for this request");
  }
  return context;
}

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

/** Media types that only RPC clients send. Errors repeat the media type, so the pattern is strict. */
export const rpcType = /^application\/(grpc(-web(-text)?)?(\+[\w.-]{1,32})?|proto|connect\+[\w.-]{1,32})$/;

/** Returns the media type without parameters, in lower case (RFC 9110 section 8.3.1). */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * Returns the protocol of a request. For a service, the content type decides, and GET is always Connect. Other paths are JSON,
 * except for a POST with a content type that only RPC clients send.
 */
function protocolOf({ method, headers }: RawRequest, isOfService: boolean): Protocol {
  const type = mediaTypeOf(headers);
  if (!isOfService && !(method === "POST" && rpcType.test(type))) {
    return "json";
  }
  if (type.startsWith("application/grpc-web")) {
    return "grpc-web";
  }
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}

const wellFormedId = /^[\w.:-]{1,64}$/;

/** Returns the client's request id, or a new one if it is malformed or contains an API key, because ids are logged. */
export function requestIdFrom(header: unknown): string {
  return typeof header === "string" && wellFormedId.test(header) && !holdsKey(header) ? header : uuidv7();
}

const traceparentPattern =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

interface TracePlace {
  /** Ids of the trace and the span: 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** True if the sender records the trace. The header defines no other flag. */
  readonly sampled: boolean;
}

/** Reads a `traceparent` header (W3C Trace Context). An invalid header counts as absent. */
export function tracePlaceOf(header: string | readonly string[] | undefined): TracePlace | undefined {
  if (header === undefined) {
    return undefined;
  }
  const [, version, traceId, spanId, flags, more] = traceparentPattern.exec(String(header)) ?? [];
  // Later versions may add fields.
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) {
    return undefined;
  }
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, sampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-0${Number(sampled)}`;
}

/** Returns the `traceparent` of a new span below the given one, or undefined if that is missing or invalid. */
export function spanBelow(traceparent: string | readonly string[] | undefined): string | undefined {
  const place = tracePlaceOf(traceparent);
  return place && traceparentOf({ ...place, spanId: randomBytes(8).toString("hex") });
}

export function pathFrom(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

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
    // The socket of a closed connection has no address.
    return socket.remoteAddress ?? "unknown";
  } catch {
    // Node's proxy for the socket of an HTTP/2 session throws if the session has ended.
    return "unknown";
  }
}

export interface RequestOutcome {
  /** Headers to add to the answer. The names are in lower case. */
  readonly answerHeaders: Map<string, string>;
  /** Code of the error with which the request was rejected. */
  code: string | undefined;
  /** The plan and the limit that rejected the request, such as `keyless/minute`. */
  limit: string | undefined;
  /** True if the call is logged elsewhere, or must not be logged. */
  hasLine: boolean;
  /** Bytes of the body that have been read, after decompression if it is decompressed before it is decoded. */
  readBytes: number;
  /** Requests of a batch that are not counted yet, although the RateLimit fields already subtract them. */
  uncounted: number;
  /** Callbacks that release the resources of the call; undefined after its end. See {@link releaseAtEnd}. */
  held: (() => void)[] | undefined;
  /** The time when the last byte was written, as `performance.now()`, if the connection then stays open for a while. */
  answeredAt: number | undefined;
}

/** `answerHeaders` are in every answer to the request. */
export function createOutcome(answerHeaders?: readonly (readonly [string, string])[]): RequestOutcome {
  return {
    answerHeaders: new Map(answerHeaders),
    code: undefined,
    limit: undefined,
    hasLine: false,
    readBytes: 0,
    uncounted: 0,
    held: [],
    answeredAt: undefined,
  };
}

/** Calls `release` when the call ends, or at once if it has ended. */
export function releaseAtEnd({ held }: RequestOutcome, release: () => void): void {
  if (held) {
    held.push(release);
  } else {
    release();
  }
}

/** Releases the resources of a call whose answer is written or whose client has disconnected. */
export function endCall(outcome: RequestOutcome): void {
  const { held = [] } = outcome;
  outcome.held = undefined;
  for (const release of held) {
    release();
  }
}

export class CallerLeft extends Error {
  constructor() {
    super("the caller left");
  }
}

/** @throws CallerLeft if the call has ended, because nobody needs the result of further work */
export function refuseLeft({ held }: RequestOutcome): void {
  if (held === undefined) {
    throw new CallerLeft();
  }
}

/** Every call for the same request returns the same object. */
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

/** UUIDs of version 7, which sort by time. Node has a function for them from version 26.1 on. */
export const uuidv7: () => string = "randomUUIDv7" in crypto ? () => crypto.randomUUIDv7() : () => v7();
