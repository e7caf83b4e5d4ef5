import * as crypto from "node:crypto";
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Span } from "@opentelemetry/api";
import { v7 } from "uuid";
import { holdsKey } from "../text/plain-text.ts";

/** The protocols in which a client can make a call. */
export type Protocol = "json" | "mcp" | "connect" | "grpc" | "grpc-web" | "cli";

/**
 * Facts about a request from its headers and its connection, the same for every protocol. The listener makes the context once,
 * and it does not change. {@link RequestOutcome} holds the facts that change.
 */
export interface RequestContext {
  /** The X-Request-Id header if it is well formed, otherwise a new id. Every answer, error and log line has this id. */
  readonly id: string;
  /**
   * The request's own span as a `traceparent` header (W3C Trace Context). It belongs to the client's trace, or to a trace of this
   * service if the client sent none and this service records traces.
   */
  readonly traceparent: string | undefined;
  /** The span of the request, if this service records it. */
  readonly span: RequestSpan | undefined;
  readonly protocol: Protocol;
  /** The path as sent, without the query. Empty if the call comes from this process. */
  readonly path: string;
  /** Address of the peer. Kept here because a closed socket no longer has it. */
  readonly address: string;
  /** The X-Forwarded-For header, unchanged. Do not trust it: any client can send it. */
  readonly forwardedFor: string | undefined;
  /** The Authorization header, unchanged. */
  readonly authorization: string | undefined;
  /** True if the request has an X-API-Key header, in which clients of other services send their key. */
  readonly hasXApiKey: boolean;
}

/**
 * The recorded span of a request, from the request's headers to the end of its answer. The span has the facts of the request's
 * log line, and ends when the answer has ended and that line is written.
 */
export interface RequestSpan {
  /** The span as a `traceparent` header. */
  readonly traceparent: string;
  readonly span: Span;
  /** Call this when the request's log line is written. */
  logged(end: TracedEnd): void;
  /**
   * Call this when the answer has ended.
   *
   * @param status HTTP status of the answer; undefined if none was sent
   * @param hasLine true if the request has a log line, which may be written later
   */
  answered(status: number | undefined, hasLine: boolean): void;
}

/** The facts that both the log line and the span of a request have. */
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

/** Begins the span of a request. Returns undefined if the request's trace is not recorded. */
export type BeginSpan = (
  request: Pick<RawRequest, "method" | "headers">,
  about: Pick<RequestContext, "protocol" | "path">,
) => RequestSpan | undefined;

/** Path of the Model Context Protocol endpoint. */
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

/**
 * Makes the context of a request and stores it for {@link contextOf}. Only the listener calls this: a second call would give the
 * request another id.
 *
 * @param isRpcPath returns true if a path belongs to an RPC service
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

/**
 * Returns the context of a request.
 *
 * @throws TypeError if the listener has not identified the request
 */
export function contextOf(request: object): RequestContext {
  const context = (request as Identified)[contextKey];
  if (context === undefined) {
    throw new TypeError("identifyRequest was not called for this request");
  }
  return context;
}

/** Returns the context of a call that comes from this process. */
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
 * Media types that only RPC clients send. If such a request calls an unknown service, the error is still sent in the RPC
 * protocol. The error repeats the media type, so the pattern is strict.
 */
export const rpcType = /^application\/(grpc(-web(-text)?)?(\+[\w.-]{1,32})?|proto|connect\+[\w.-]{1,32})$/;

/** Returns the media type without parameters, in lower case because it is case-insensitive (RFC 9110 section 8.3.1). */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * Returns the protocol of a request. For the path of a service, the content type decides between gRPC, gRPC-Web and Connect, and
 * GET is always Connect. Any other path is JSON, except for a POST with a content type that only RPC clients send.
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

/**
 * Returns the id in an X-Request-Id header if it is well formed, otherwise a new id. An API key is not accepted, because ids are
 * logged.
 */
export function requestIdFrom(header: unknown): string {
  return typeof header === "string" && wellFormedId.test(header) && !holdsKey(header) ? header : uuidv7();
}

const traceparentPattern =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The content of a `traceparent` header. */
interface TracePlace {
  /** Ids of the trace and of the span: 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** True if the sender records the trace. The header defines no other flag. */
  readonly sampled: boolean;
}

/** Reads a `traceparent` header (W3C Trace Context). Returns undefined for an invalid header, as if none had been sent. */
export function tracePlaceOf(header: string | readonly string[] | undefined): TracePlace | undefined {
  if (header === undefined) {
    return undefined;
  }
  const [, version, traceId, spanId, flags, more] = traceparentPattern.exec(String(header)) ?? [];
  // A later version may have further fields after the known ones.
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) {
    return undefined;
  }
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 };
}

/** Returns the text of a `traceparent` header. */
export function traceparentOf({ traceId, spanId, sampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-0${Number(sampled)}`;
}

/**
 * Returns the `traceparent` header of a new span whose parent is the span in the given header. Returns undefined if that header
 * is missing or invalid.
 */
export function spanBelow(traceparent: string | readonly string[] | undefined): string | undefined {
  const place = tracePlaceOf(traceparent);
  return place && traceparentOf({ ...place, spanId: randomBytes(8).toString("hex") });
}

/** Returns a request target without its query. */
export function pathFrom(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/** Returns the peer address of a request's connection, and the request's X-Forwarded-For header. */
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

/** The state of a request while it is answered, for the answer and the log line. */
export interface RequestOutcome {
  /** Headers to add to the answer. The names are in lower case. */
  readonly answerHeaders: Map<string, string>;
  /** Code of the error with which the request was rejected. */
  code: string | undefined;
  /** The plan and the limit that rejected the request, such as `keyless/minute`. */
  limit: string | undefined;
  /** True if the call is logged elsewhere, or must not be logged. */
  hasLine: boolean;
  /**
   * The number of bytes of the body that have been read. If the body is decompressed before it is decoded, they count after
   * decompression.
   */
  readBytes: number;
  /** The number of requests of a batch that are not counted yet. The RateLimit fields already subtract them. */
  uncounted: number;
  /** Callbacks that release the resources of the call; undefined after the call has ended. See {@link releaseAtEnd}. */
  held: (() => void)[] | undefined;
  /**
   * Time when the last byte of the answer was written, as `performance.now()`. Set only if the connection stays open for a while
   * after it.
   */
  answeredAt: number | undefined;
}

/**
 * Creates the outcome of a new request.
 *
 * @param answerHeaders headers that every answer to the request has
 */
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

/** Calls `release` when the call ends, whether or not it succeeds. If the call has already ended, `release` runs at once. */
export function releaseAtEnd({ held }: RequestOutcome, release: () => void): void {
  if (held) {
    held.push(release);
  } else {
    release();
  }
}

/** Releases all resources of a call. Called when its answer is written or its client has disconnected. */
export function endCall(outcome: RequestOutcome): void {
  const { held = [] } = outcome;
  outcome.held = undefined;
  for (const release of held) {
    release();
  }
}

/** Thrown by the work on a request if the client has disconnected. */
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

/** Returns the outcome of a request that the listener has identified. Every call for the same request returns the same object. */
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

/** Returns a UUID of version 7, so that ids sort by time. Node has a function for this from version 26.1 on. */
export const uuidv7: () => string = "randomUUIDv7" in crypto ? () => crypto.randomUUIDv7() : () => v7();
