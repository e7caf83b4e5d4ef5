import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import {
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_RPC_METHOD,
  ATTR_RPC_STATUS_CODE,
  ATTR_RPC_SYSTEM_NAME,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
  RPC_SYSTEM_NAME_VALUE_GRPC,
} from "@opentelemetry/semantic-conventions";
import type { Middleware } from "../calls/middleware.ts";
import { type ErrorCode, errorCodes, errorKind } from "../errors/catalogue.ts";
import { isPreflight, type NodeResponse, type RequestHandler } from "../http/message.ts";
import type { CallEnd, CallLine } from "../log/call-line.ts";
import {
  type BeginSpan,
  contextOf,
  outcomeOf,
  type Protocol,
  type RequestContext,
  type RequestSpan,
  tracePlaceOf,
  traceparentOf,
} from "../request/context.ts";
import { attributesOf, failAs, type Spans } from "./spans.ts";

/** The names of RPC systems in OpenTelemetry's conventions. Plain JSON and MCP count as HTTP. */
const rpcSystems: Partial<Record<Protocol, string>> = {
  grpc: RPC_SYSTEM_NAME_VALUE_GRPC,
  "grpc-web": RPC_SYSTEM_NAME_VALUE_GRPC,
  connect: "connectrpc",
};

/** The codes of RPC that are a server's failures, by the conventions of gRPC. */
const failures: ReadonlySet<string> = new Set([
  "unknown",
  "deadline_exceeded",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
]);

const verbs: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

/**
 * The span of a request, from its headers to the end of its answer. Of what it asked for it says what is one of few:
 * paths and methods only where they are those of calls.
 */
class ServerSpan implements RequestSpan {
  readonly traceparent: string;
  readonly span: Span;
  readonly #method: string;
  readonly #protocol: Protocol;
  /** The path of a call; any other may be whatever its sender likes. */
  readonly #path: string | undefined;
  #told: CallEnd | undefined;
  /** Whether somebody tells when the answer has ended, and whether that was told. */
  #watched = false;
  #closed = false;
  #status: number | undefined;

  constructor(span: Span, method: string, protocol: Protocol, path: string | undefined) {
    const { traceId, spanId } = span.spanContext();
    this.traceparent = traceparentOf({ traceId, spanId, sampled: true });
    this.span = span;
    this.#method = method;
    this.#protocol = protocol;
    this.#path = path;
  }

  /** @param hasLine whether a line of it was written, or is to come */
  watch(res: NodeResponse, hasLine: () => boolean): void {
    if (this.#watched) {
      return;
    }
    this.#watched = true;
    res.once("close", () => {
      this.#closed = true;
      this.#status = res.headersSent ? res.statusCode : undefined;
      if (this.#told || !hasLine()) {
        this.#end();
      }
    });
  }

  tell(end: CallEnd): void {
    this.#told = end;
    if (this.#closed || !this.#watched) {
      this.#end();
    }
  }

  #end(): void {
    const { span } = this;
    if (!span.isRecording()) {
      return;
    }
    if (this.#told) {
      span.setAttributes(factsOf(this.#told));
    }
    const system = rpcSystems[this.#protocol];
    if (system === undefined) {
      this.#endHttp();
    } else {
      this.#endRpc(system);
    }
    span.end();
  }

  #endHttp(): void {
    const code = codeOf(this.#told);
    const status = this.#status ?? (code && errorKind(code).status);
    const route = this.#path;
    this.span.updateName(route === undefined ? this.#method : `${this.#method} ${route}`);
    this.span.setAttributes(
      attributesOf({
        [ATTR_URL_SCHEME]: "http",
        [ATTR_URL_PATH]: route,
        [ATTR_HTTP_ROUTE]: route,
        [ATTR_HTTP_RESPONSE_STATUS_CODE]: status,
      }),
    );
    if (status !== undefined && Math.floor(status / 100) === 5) {
      failAs(this.span, code ?? String(status));
    }
  }

  #endRpc(system: string): void {
    const method = this.#path?.slice(1) ?? "_OTHER";
    const code = this.#told && rpcCodeOf(this.#told);
    const isGrpc = system === RPC_SYSTEM_NAME_VALUE_GRPC;
    const status = isGrpc ? grpcName(code) : code === "ok" ? undefined : code;
    this.span.updateName(method === "_OTHER" ? system : method);
    this.span.setAttributes(attributesOf({ [ATTR_RPC_METHOD]: method, [ATTR_RPC_STATUS_CODE]: status }));
    if (code !== undefined && failures.has(code)) {
      failAs(this.span, status ?? code);
    }
  }
}

/** gRPC spells one of its codes as nobody else does. */
function grpcName(code: string | undefined): string | undefined {
  return code === "canceled" ? "CANCELLED" : code?.toUpperCase();
}

/** What has a path was refused before it was a call. */
function isCall({ fields }: CallEnd): boolean {
  return fields.request === undefined;
}

function codeOf(end: CallEnd | undefined): ErrorCode | undefined {
  return errorCodes.find((code) => code === end?.code);
}

function rpcCodeOf(end: CallEnd): string {
  const known = codeOf(end);
  return known ? errorKind(known).rpc : end.code;
}

/** What the conventions have no names for. Neither positions nor keys nor addresses. */
function factsOf(end: CallEnd) {
  const { code, fields } = end;
  return attributesOf({
    "kibitz.method": isCall(end) ? fields.method : undefined,
    "kibitz.code": code,
    "kibitz.depth": fields.depth,
    "kibitz.cached": fields.cached,
  });
}

/** What is known of paths, without their queries. */
export interface Paths {
  /** The paths of calls, and of MCP. */
  isCall(path: string): boolean;
  /** Those whose requests have no spans: probes. */
  isLeftOut(path: string): boolean;
}

export function createBeginSpan(spans: Spans, { isCall, isLeftOut }: Paths): BeginSpan {
  return (request, { protocol, path }) => {
    const { method: sent = "", headers } = request;
    // A preflight is answered before anybody could watch over a span.
    if (isLeftOut(path) || isPreflight(request)) {
      return undefined;
    }
    const method = verbs.has(sent) ? sent : "_OTHER";
    const system = rpcSystems[protocol];
    const parent = parentOf(headers.traceparent, headers.tracestate);
    const span = spans.beginFirst(parent, system ?? method, () => ({
      kind: SpanKind.SERVER,
      attributes: {
        "kibitz.protocol": protocol,
        ...(system ? { [ATTR_RPC_SYSTEM_NAME]: system } : { [ATTR_HTTP_REQUEST_METHOD]: method }),
      },
    }));
    return span && new ServerSpan(span, method, protocol, isCall(path) ? path : undefined);
  };
}

/** W3C Trace Context, which gRPC sends as metadata: as headers, too. */
function parentOf(
  traceparent: string | readonly string[] | undefined,
  tracestate: string | readonly string[] | undefined,
): Context {
  const place = tracePlaceOf(traceparent);
  if (place === undefined) {
    return ROOT_CONTEXT;
  }
  const { traceId, spanId, sampled } = place;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(String(tracestate)) }),
  });
}

function serverSpanOf({ span }: RequestContext): ServerSpan | undefined {
  return span instanceof ServerSpan ? span : undefined;
}

/** Handlers that work in the span of their request, or in none: never in that of another one of the same connection. */
export function tracedHandlers(spans: Spans, handlers: readonly RequestHandler[]): readonly RequestHandler[] {
  return handlers.map(
    (handler): RequestHandler =>
      (req, res) => {
        const own = serverSpanOf(contextOf(req));
        own?.watch(res, () => outcomeOf(req).hasLine);
        return own?.span === spans.current
          ? handler(req, res)
          : spans.within(own?.span, () => handler(req, res));
      },
  );
}

/** Tells spans what is told of calls. A request of an agent may make several, which have a span each. */
export function tracedCallLine(spans: Spans, write: CallLine): CallLine {
  return (request, end) => {
    write(request, end);
    const own = serverSpanOf(request);
    if (own === undefined) {
      return;
    }
    if (request.protocol === "mcp" && isCall(end)) {
      const { current } = spans;
      // What the rules of chess answer has no chain.
      const call =
        current === own.span ? spans.begin(String(end.fields.method), { startTime: end.startedAt }) : current;
      call?.setAttributes(factsOf(end));
      const code = codeOf(end);
      if (call && code && failures.has(errorKind(code).rpc)) {
        failAs(call, code);
      }
      call?.end();
    }
    own.tell(end);
  };
}

/**
 * Outermost. By then a body may have been read, whose events are the connection's: the span of the request would not be the current
 * one.
 */
export function inSpanOfRequest(spans: Spans): Middleware {
  return (handler) => (request, call) => {
    const own = serverSpanOf(call.request);
    if (own === undefined) {
      return handler(request, call);
    }
    const span =
      call.request.protocol === "mcp"
        ? spans.within(own.span, () => spans.begin(call.method.name))
        : own.span;
    const answer = spans.within(span, () => handler(request, call));
    return Symbol.asyncIterator in answer ? streamIn(spans, span, answer) : answer;
  };
}

/** A stream goes on where it is read. */
function streamIn<T>(spans: Spans, span: Span | undefined, messages: AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const read = messages[Symbol.asyncIterator]();
      return {
        next: () => spans.within(span, () => read.next()),
        return: (value?: unknown) =>
          spans.within(span, async () => (await read.return?.(value)) ?? { done: true as const, value }),
      };
    },
  };
}
