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

/** The RPC systems in OpenTelemetry's conventions. Plain JSON and MCP are missing, because their spans are HTTP spans. */
const rpcSystems: Partial<Record<Protocol, string>> = {
  grpc: "grpc",
  "grpc-web": "grpc",
  connect: "connectrpc",
};

/** The RPC codes that mean a failure of the server, by OpenTelemetry's conventions for gRPC. */
const failures: ReadonlySet<string> = new Set([
  "unknown",
  "deadline_exceeded",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
]);

const verbs: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

interface TracedPaths {
  /** The paths of API methods and of MCP. Spans contain no other paths, because clients can invent them. */
  readonly calls: ReadonlySet<string>;
  /** Requests for these paths, such as health probes, get no span. */
  readonly untraced: RegExp;
}

export function createBeginSpan({ calls, untraced }: TracedPaths): BeginSpan {
  return ({ method: sent = "", headers }, { protocol, path }) => {
    if (untraced.test(path)) {
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
      ? new ServerSpan(span, method, protocol, calls.has(path) ? path : undefined)
      : undefined;
  };
}

/** gRPC sends the headers of W3C Trace Context as metadata. */
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

/** gRPC writes the code `canceled` as CANCELLED. */
function grpcName(code: string | undefined): string | undefined {
  return code === "canceled" ? "CANCELLED" : code?.toUpperCase();
}

/** True if an API method was called. Otherwise, the log line has the field `request`. */
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

/** Attributes that OpenTelemetry's conventions do not define. No attribute contains positions, keys or addresses. */
function factsOf(end: TracedEnd): Attributes {
  const { code, fields } = end;
  return {
    "kibitz.method": isCall(end) ? fields.method : undefined,
    "kibitz.code": code,
    "kibitz.depth": fields.depth,
    "kibitz.cached": fields.cached,
  };
}

/** Adds the result of a call to its span. An MCP request may make several calls, each with its own span. */
export function traceCallEnd({ span: own, protocol }: RequestContext, end: TracedEnd): void {
  if (own && protocol === "mcp" && isCall(end)) {
    const active = activeSpan();
    // Create a span now for a call that has no span yet, such as playing moves.
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
