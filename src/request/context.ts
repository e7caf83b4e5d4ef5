import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Span } from "@opentelemetry/api";
import { holdsKey } from "../text/keys-in-text.ts";
import { uuidv7 } from "../text/uuidv7.ts";

export type Protocol = "json" | "mcp" | "connect" | "grpc" | "grpc-web" | "cli";

/** Values that are known when the headers arrive. {@link RequestOutcome} has the values that change later. */
export interface RequestContext {
  /** The X-Request-Id header, or a new id if the header is missing or malformed. */
  readonly id: string;
  /** The trace and span of the request in the format of W3C Trace Context. */
  readonly traceparent: string | undefined;
  readonly span: RequestSpan | undefined;
  readonly protocol: Protocol;
  /** The path without its query. Empty for requests from the command line. */
  readonly path: string;
  /** The address of the connection. Stored here, because a closed socket has no address. */
  readonly address: string;
  /** Any client can send the X-Forwarded-For header, so do not trust this value. */
  readonly forwardedFor: string | undefined;
  readonly authorization: string | undefined;
  /** True if the client sent an X-API-Key header, which Kibitz does not accept. */
  readonly hasXApiKey: boolean;
}

/** The span ends when both the response and the log line are complete. */
export interface RequestSpan {
  readonly traceparent: string;
  readonly span: Span;
  logged(end: TracedEnd): void;
  /** Call this when the response has ended. `status` is undefined if no status was sent. */
  answered(status: number | undefined, hasLine: boolean): void;
}

export interface TracedEnd {
  readonly code: string;
  /** By `now()`. */
  readonly startedAt: number;
  readonly fields: {
    /** The name of the RPC method, or the HTTP method if the request was rejected before the call. */
    readonly method?: string | undefined;
    readonly request?: string | undefined;
    readonly depth?: number | undefined;
    readonly cached?: boolean | undefined;
  };
}

/** Returns undefined if the trace of the request is not recorded. */
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

/** Call this once for each request, because each call creates a new id. */
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

/** Throws a TypeError if {@link identifyRequest} was not called for the request. */
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

/** Matches media types that only RPC clients send. The pattern is strict, because error responses contain the media type. */
export const rpcType = /^application\/(grpc(-web(-text)?)?(\+[\w.-]{1,32})?|proto|connect\+[\w.-]{1,32})$/;

export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Returns a function that is true for a path of one of these gRPC services, even if the service has no such method. */
export function createRpcPathTest(services: ReadonlySet<string>): (path: string) => boolean {
  // Names of services contain dots, and paths of the JSON API do not.
  return (path) => path.includes(".") && services.has(path.slice(1, path.lastIndexOf("/")));
}

/**
 * On the path of an RPC service, the content type determines the protocol. On any other path, the protocol is JSON.
 * Exception: a POST request with a content type that only RPC clients send uses an RPC protocol on every path.
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

/** Returns the id that the client sent, or a new id. An id that is malformed or contains an API key must not be logged. */
export function requestIdFrom(header: unknown): string {
  return typeof header === "string" && wellFormedId.test(header) && !holdsKey(header) ? header : uuidv7();
}

const traceparentPattern =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

interface TracePlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Reads a W3C Trace Context header. Returns undefined if the header is missing or invalid. */
export function tracePlaceOf(header: string | readonly string[] | undefined): TracePlace | undefined {
  if (header === undefined) {
    return undefined;
  }
  const [, version, traceId, spanId, flags, more] = traceparentPattern.exec(String(header)) ?? [];
  // Later versions of the header may have more fields.
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) {
    return undefined;
  }
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, sampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-0${Number(sampled)}`;
}

/** Returns the `traceparent` of a new child span. Returns undefined if the header is missing or invalid. */
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
  /** The names are in lower case. */
  readonly answerHeaders: Map<string, string>;
  code: string | undefined;
  /** The plan and the name of the exceeded limit, such as `keyless/minute`. */
  limit: string | undefined;
  /** True if the middleware or a handler writes the log line of this request, or if this request must not be logged. */
  hasLine: boolean;
  /**
   * The number of bytes that were read from the body. If the body is decompressed before decoding, counts the decompressed
   * bytes.
   */
  readBytes: number;
  /** True if an error has ended the request from outside its call. What still runs of the call must then be aborted. */
  hasFailed: boolean;
  /** The number of requests in a batch that are not counted yet. The RateLimit headers already subtract these requests. */
  uncounted: number;
  /** These functions are called when the call ends. Undefined if the call has ended. */
  releases: (() => void)[] | undefined;
  /** True if the response is written or the client has disconnected. The call ends when its work has ended too. */
  isClosed: boolean;
  /** The number of tasks that work on the call, see {@link holdCall}. */
  holds: number;
  /** True if a rate limit has counted the request, or an item of the batch. */
  isCounted: boolean;
  /** The units of the error quota that the call costs if the client abandons it before it is counted. 0 until the body is read. */
  workCost: number;
  /**
   * The time of the response by `now()`. Set only if the response was sent before the whole request body was read.
   */
  answeredAt: number | undefined;
  /** The time by `now()` at which a piece of a long answer was sent, so that its client is known to read. */
  pieceSentAt: number;
}

export function createOutcome(answerHeaders?: readonly (readonly [string, string])[]): RequestOutcome {
  return {
    answerHeaders: new Map(answerHeaders),
    code: undefined,
    limit: undefined,
    hasLine: false,
    hasFailed: false,
    readBytes: 0,
    uncounted: 0,
    releases: [],
    isClosed: false,
    holds: 0,
    isCounted: false,
    workCost: 0,
    answeredAt: undefined,
    pieceSentAt: Number.NEGATIVE_INFINITY,
  };
}

/** Calls `release` at the end of the call, or at once if the call has already ended. */
export function releaseAtEnd({ releases }: RequestOutcome, release: () => void): void {
  if (releases) {
    releases.push(release);
  } else {
    release();
  }
}

/**
 * Calls `release` at the end of the call. Calls `release` at once if no handler got the request, or if the call has already
 * ended.
 */
export function releaseWithCall(request: object, release: () => void): void {
  const outcome = (request as Identified)[outcomeKey];
  if (outcome) {
    releaseAtEnd(outcome, release);
  } else {
    release();
  }
}

/**
 * The call does not end until the result is disposed of, even if the client disconnects. Hold a call while a task works on the
 * call. Otherwise a client that disconnects could start more tasks than its limits allow.
 */
export function holdCall(outcome: RequestOutcome): Disposable {
  const hold = new DisposableStack();
  outcome.holds++;
  hold.defer(() => {
    outcome.holds--;
    endIfOver(outcome);
  });
  return hold;
}

/** Call this when the response is written or the client has disconnected. The call ends when no task holds it. */
export function closeCall(outcome: RequestOutcome): void {
  outcome.isClosed = true;
  endIfOver(outcome);
}

function endIfOver(outcome: RequestOutcome): void {
  if (!outcome.isClosed || outcome.holds > 0) {
    return;
  }
  const { releases = [] } = outcome;
  outcome.releases = undefined;
  // A stack calls all functions, even if one of them throws.
  using ending = new DisposableStack();
  for (const release of releases.toReversed()) {
    ending.defer(release);
  }
}

export class ClientDisconnected extends Error {
  constructor() {
    super("the client disconnected");
  }
}

/** Call this before an expensive step. Throws ClientDisconnected if the client has disconnected. */
export function refuseDisconnected({ isClosed }: RequestOutcome): void {
  if (isClosed) {
    throw new ClientDisconnected();
  }
}

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
