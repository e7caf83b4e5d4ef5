import * as crypto from "node:crypto";
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Span } from "@opentelemetry/api";
import { v7 } from "uuid";
import { holdsKey } from "../text/plain-text.ts";

/** The protocols through which a call can come. */
export type Protocol = "json" | "mcp" | "connect" | "grpc" | "grpc-web" | "cli";

/**
 * The facts of a request from its headers and its connection, in every protocol. The edge makes it once; it does not change.
 * {@link RequestOutcome} holds what changes.
 */
export interface RequestContext {
  /** The caller's X-Request-Id if it is well formed, else a new one. It is in every answer, error and log line. */
  readonly id: string;
  /**
   * The request's own span as a `traceparent` header (W3C Trace Context): in the trace of its sender, or in one of this service
   * if that records traces.
   */
  readonly traceparent: string | undefined;
  /** That span, if this service records it. */
  readonly span: RequestSpan | undefined;
  readonly protocol: Protocol;
  /** The path as sent, without the query. Empty for calls from this process. */
  readonly path: string;
  /** Address of the peer, kept here because the socket loses it when it closes. */
  readonly address: string;
  /** The header X-Forwarded-For, verbatim: any client can write it. */
  readonly forwardedFor: string | undefined;
  /** The Authorization header, verbatim. */
  readonly authorization: string | undefined;
  /** True if the request has an X-API-Key header, from which other services read keys. */
  readonly hasXApiKey: boolean;
}

/**
 * The recorded span of a request, from its headers to the end of its answer. It ends when the answer has ended and the request's log
 * line is written, and has the facts of that line.
 */
export interface RequestSpan {
  /** The span as a `traceparent` header. */
  readonly traceparent: string;
  readonly span: Span;
  /** Call when the request's log line is written. */
  logged(end: TracedEnd): void;
  /**
   * Call when the answer has ended.
   *
   * @param status HTTP status of the answer; undefined if none was sent
   * @param hasLine true if the request has a log line, which may be written later
   */
  answered(status: number | undefined, hasLine: boolean): void;
}

/** The facts of a log line that spans have, too. */
export interface TracedEnd {
  readonly code: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly fields: {
    /** Name of the RPC; HTTP method if the request was refused before it was a call. */
    readonly method?: string | undefined;
    /** The path, if the request was refused before it was a call. */
    readonly request?: string | undefined;
    readonly depth?: number | undefined;
    readonly cached?: boolean | undefined;
  };
}

/** Begins the span of a request. Undefined if the request's trace is not recorded. */
export type BeginSpan = (
  request: Pick<RawRequest, "method" | "headers">,
  about: Pick<RequestContext, "protocol" | "path">,
) => RequestSpan | undefined;

/** Path of the Model Context Protocol. */
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
 * Makes the context of a request, which {@link contextOf} finds from then on. Only the edge calls this: a second call would give the
 * request another id.
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

/** @throws TypeError if the edge has not identified the request */
export function contextOf(request: object): RequestContext {
  const context = (request as Identified)[contextKey];
  if (context === undefined) {
    throw new TypeError("identifyRequest was not called for this request");
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
 * Media types that only RPC clients send: a call of an unknown service is answered in its protocol, too. The answer repeats the
 * type, so the pattern allows nothing else.
 */
export const rpcType = /^application\/(grpc(-web(-text)?)?(\+[\w.-]{1,32})?|proto|connect\+[\w.-]{1,32})$/;

/** The media type without parameters, in lower case: it is case-insensitive (RFC 9110 section 8.3.1). */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * At the paths of the services the content type distinguishes gRPC, gRPC-Web and Connect, and GET is always Connect. At other paths it
 * is JSON, unless only an RPC client would post the content type.
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

/** The id in an X-Request-Id header if it is well formed, else a new one. An API key is no id, because ids are logged. */
export function requestIdFrom(header: unknown): string {
  return typeof header === "string" && wellFormedId.test(header) && !holdsKey(header) ? header : uuidv7();
}

const traceparentPattern =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The content of a `traceparent` header. */
interface TracePlace {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** True if the sender records the trace. No other flag is defined. */
  readonly sampled: boolean;
}

/** Reads a `traceparent` header (W3C Trace Context). An invalid header is ignored, as if it had not been sent. */
export function tracePlaceOf(header: string | readonly string[] | undefined): TracePlace | undefined {
  if (header === undefined) {
    return undefined;
  }
  const [, version, traceId, spanId, flags, more] = traceparentPattern.exec(String(header)) ?? [];
  // Later versions may add fields behind the known ones.
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) {
    return undefined;
  }
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 };
}

/** Writes a `traceparent` header. */
export function traceparentOf({ traceId, spanId, sampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-0${Number(sampled)}`;
}

/** A new span below the one in a `traceparent` header, as such a header; undefined without a valid header. */
export function spanBelow(traceparent: string | readonly string[] | undefined): string | undefined {
  const place = tracePlaceOf(traceparent);
  return place && traceparentOf({ ...place, spanId: randomBytes(8).toString("hex") });
}

/** A request target without its query. */
export function pathFrom(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/** The address of a request's connection, and its X-Forwarded-For. */
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
    // Node's proxy for the socket of an HTTP/2 session throws when the session has ended.
    return "unknown";
  }
}

/** The course of a request while it is answered, for the answer and the log line. */
export interface RequestOutcome {
  /** Headers to add to the answer, by lower-case name. */
  readonly answerHeaders: Map<string, string>;
  /** Code of the error that refused the request. */
  code: string | undefined;
  /** The plan and limit that refused the request: `keyless/minute`. */
  limit: string | undefined;
  /** True if the call is logged elsewhere, or must not be logged. */
  hasLine: boolean;
  /** Bytes of the body that have been read, after decompression if the body is decompressed before it is decoded. */
  readBytes: number;
  /** Requests of a batch that are not counted yet. The RateLimit fields already subtract them. */
  uncounted: number;
  /** Callbacks that release what the call holds; undefined when the call has ended. See {@link releaseAtEnd}. */
  held: (() => void)[] | undefined;
  /** Time by `performance.now()` when the last byte was written, if the connection stays open for a while after it. */
  answeredAt: number | undefined;
}

/** @param answerHeaders headers that every answer to the request has */
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

/** Releases something when the call ends, however it ends; at once if the call has ended. */
export function releaseAtEnd({ held }: RequestOutcome, release: () => void): void {
  if (held) {
    held.push(release);
  } else {
    release();
  }
}

/** Releases everything that a call holds: its answer is written, or its client has disconnected. */
export function endCall(outcome: RequestOutcome): void {
  const { held = [] } = outcome;
  outcome.held = undefined;
  for (const release of held) {
    release();
  }
}

/** Thrown by the work on a request whose client has disconnected. */
export class CallerLeft extends Error {
  constructor() {
    super("the caller left");
  }
}

/** @throws CallerLeft if the call has ended: nobody needs the result of further work */
export function refuseLeft({ held }: RequestOutcome): void {
  if (held === undefined) {
    throw new CallerLeft();
  }
}

/** The outcome of a request that came through the edge: each call returns the same object. */
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

/** A UUID version 7: ids that sort by time. Node makes them from version 26.1 on. */
export const uuidv7: () => string = "randomUUIDv7" in crypto ? () => crypto.randomUUIDv7() : () => v7();
