import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { type ErrorCode, errorCodes, errorKind } from "../errors/catalog.ts";
import {
  type BeginSpan,
  type Protocol,
  type RequestContext,
  type RequestSpan,
  type TracedEnd,
  tracePlaceOf,
  traceparentOf,
} from "../request/context.ts";
import { activeSpan, beginSpan, failSpan, tracer } from "./spans.ts";

/** The names of RPC systems in OpenTelemetry's conventions. Plain JSON and MCP count as HTTP. */
const rpcSystems: Partial<Record<Protocol, string>> = {
  grpc: "grpc",
  "grpc-web": "grpc",
  connect: "connectrpc",
};

/** The RPC codes that are the server's failures by OpenTelemetry's conventions for gRPC. */
const failures: ReadonlySet<string> = new Set([
  "unknown",
  "deadline_exceeded",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
]);

const verbs: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

/** Paths are given without their queries. */
export interface TracedPaths {
  /** True for the path of a call, and for the path of MCP. No span has any other path, because it may be a client's text. */
  isCall(path: string): boolean;
  /** True if requests to the path have no span, as for health probes. */
  isLeftOut(path: string): boolean;
}

export function createBeginSpan({ isCall, isLeftOut }: TracedPaths): BeginSpan {
  return ({ method: sent = "", headers }, { protocol, path }) => {
    if (isLeftOut(path)) {
      return undefined;
    }
    const method = verbs.has(sent) ? sent : "_OTHER";
    const system = rpcSystems[protocol];
    const span = tracer().startSpan(
      system ?? method,
      {
        kind: SpanKind.SERVER,
        attributes: {
          "kibitz.protocol": protocol,
          "rpc.system.name": system,
          "http.request.method": system ? undefined : method,
        },
      },
      parentOf(headers),
    );
    return span.isRecording()
      ? new ServerSpan(span, method, protocol, isCall(path) ? path : undefined)
      : undefined;
  };
}

/** Reads the client's span from the W3C Trace Context headers. In gRPC they are metadata, which are headers, too. */
function parentOf({ traceparent, tracestate }: Parameters<BeginSpan>[0]["headers"]): Context {
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

class ServerSpan implements RequestSpan {
  readonly traceparent: string;
  readonly span: Span;
  readonly #method: string;
  readonly #protocol: Protocol;
  /** The path of a call; undefined for any other path. */
  readonly #path: string | undefined;
  #logged: TracedEnd | undefined;
  #isAnswered = false;
  #status: number | undefined;

  constructor(span: Span, method: string, protocol: Protocol, path: string | undefined) {
    const { traceId, spanId } = span.spanContext();
    this.traceparent = traceparentOf({ traceId, spanId, sampled: true });
    this.span = span;
    this.#method = method;
    this.#protocol = protocol;
    this.#path = path;
  }

  answered(status: number | undefined, hasLine: boolean): void {
    this.#isAnswered = true;
    this.#status = status;
    if (this.#logged || !hasLine) {
      this.#end();
    }
  }

  logged(end: TracedEnd): void {
    this.#logged = end;
    if (this.#isAnswered) {
      this.#end();
    }
  }

  #end(): void {
    const { span } = this;
    if (!span.isRecording()) {
      return;
    }
    if (this.#logged) {
      span.setAttributes(factsOf(this.#logged));
    }
    const system = rpcSystems[this.#protocol];
    if (system === undefined) {
      this.#describeHttp();
    } else {
      this.#describeRpc(system);
    }
    span.end();
  }

  #describeHttp(): void {
    const code = codeOf(this.#logged);
    const status = this.#status ?? (code && errorKind(code).status);
    const route = this.#path;
    this.span.updateName(route === undefined ? this.#method : `${this.#method} ${route}`);
    this.span.setAttributes({
      "url.scheme": "http",
      "url.path": route,
      "http.route": route,
      "http.response.status_code": status,
    });
    if (status !== undefined && status >= 500) {
      failSpan(this.span, code ?? String(status));
    }
  }

  #describeRpc(system: string): void {
    const method = this.#path?.slice(1);
    const code = this.#logged && rpcCodeOf(this.#logged);
    const status = system === "grpc" ? grpcName(code) : code === "ok" ? undefined : code;
    this.span.updateName(method ?? system);
    this.span.setAttributes({ "rpc.method": method ?? "_OTHER", "rpc.status_code": status });
    if (code !== undefined && failures.has(code)) {
      failSpan(this.span, status ?? code);
    }
  }
}

/** Returns the name of an RPC code in gRPC, which writes `canceled` as CANCELLED. */
function grpcName(code: string | undefined): string | undefined {
  return code === "canceled" ? "CANCELLED" : code?.toUpperCase();
}

/** True if a log line is that of a call. The line of a request that was rejected before it was a call has the field `request`. */
function isCall({ fields }: TracedEnd): boolean {
  return fields.request === undefined;
}

function codeOf(end: TracedEnd | undefined): ErrorCode | undefined {
  return errorCodes.find((code) => code === end?.code);
}

function rpcCodeOf(end: TracedEnd): string {
  const code = codeOf(end);
  return code ? errorKind(code).rpc : end.code;
}

/** OpenTelemetry's conventions have no names for these attributes. They contain no positions, keys or addresses. */
function factsOf(end: TracedEnd): Attributes {
  const { code, fields } = end;
  return {
    "kibitz.method": isCall(end) ? fields.method : undefined,
    "kibitz.code": code,
    "kibitz.depth": fields.depth,
    "kibitz.cached": fields.cached,
  };
}

/** An MCP request may make several calls, each with a span of its own, which ends with the call's log line. */
export function traceCallEnd({ span: own, protocol }: RequestContext, end: TracedEnd): void {
  if (own && protocol === "mcp" && isCall(end)) {
    const active = activeSpan();
    // A call that no middleware has seen, such as playing moves, has no span yet.
    const call =
      active === own.span ? beginSpan(String(end.fields.method), { startTime: end.startedAt }) : active;
    call?.setAttributes(factsOf(end));
    const code = codeOf(end);
    if (call && code && failures.has(errorKind(code).rpc)) {
      failSpan(call, code);
    }
    call?.end();
  }
  own?.logged(end);
}
