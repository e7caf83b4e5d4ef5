import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import type { Log } from "../../log/log.ts";
import { type BeginSpan, contextOf, endCall, identifyRequest, outcomeOf } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { withSpan } from "../../tracing/spans.ts";
import {
  cutShort,
  isGone,
  isPreflight,
  type NodeRequest,
  type NodeResponse,
  type RequestHandler,
} from "../message.ts";
import { answerNotFound } from "../pages/not-found.ts";
import { sendProblem } from "../send-problem.ts";
import { answerPreflight, type Cors } from "./cors.ts";

export interface DispatchOptions {
  /** The first handler that takes a request answers it. */
  readonly handlers: readonly RequestHandler[];
  readonly cors: Cors;
  readonly log: Pick<Log, "error">;
  readonly headersMaxBytes: number;
  readonly isRpcPath: (path: string) => boolean;
  /** Called when an answer has ended. Logs the request if it did not become a call. */
  readonly logRefused: (req: Pick<NodeRequest, "method">, startedAt: number) => void;
  readonly refuse: Refuse;
  /** Begins the span of a request. Not called for preflights. */
  readonly beginSpan?: BeginSpan | undefined;
}

export type Refuse = (error: KibitzError, req: NodeRequest, res: NodeResponse) => void;

/** Offers each request to the handlers in turn. No invalid request or error of a handler ends the process. */
export function createDispatch({
  handlers,
  cors,
  log,
  headersMaxBytes,
  isRpcPath,
  logRefused,
  refuse,
  beginSpan,
}: DispatchOptions) {
  function fail(req: NodeRequest, res: NodeResponse, thrown: unknown): void {
    const error = errorFromUnknown(thrown);
    if (error.code === "internal") {
      const { id: requestId, path } = contextOf(req);
      log.error(
        { err: error.cause, requestId, method: req.method ?? "", request: echo(path) },
        "a handler threw",
      );
    }
    if (res.headersSent) {
      cutShort(res);
    } else if (!answerNotFound(req, res, error)) {
      sendProblem(req, res, error);
    }
  }

  async function answer(
    req: NodeRequest,
    res: NodeResponse,
    refusal: KibitzError | undefined,
  ): Promise<void> {
    cors(req, res);
    check(req, res, headersMaxBytes);
    if (isPreflight(req)) {
      answerPreflight(req, res);
      return;
    }
    if (refusal) {
      refuse(refusal, req, res);
      return;
    }
    for (const handler of handlers) {
      if ((await handler(req, res)) || isGone(res)) {
        return;
      }
    }
    throw new KibitzError(
      "not_found",
      `There is nothing at ${req.method} ${echo(contextOf(req).path)}. GET / shows how to start; the calls are ` +
        "POST /v1/eval, /v1/eval/stream, /v1/eval/batch, /v1/bestmove, /v1/review, /v1/keys, /mcp, GET /engines and /price.",
    );
  }

  return (req: NodeRequest, res: NodeResponse, refusal?: KibitzError): void => {
    // A disconnect may emit an error, which without a listener would end the process.
    req.on("error", () => {});
    // Without a listener, a handler that writes after the end would end the process.
    res.on("error", (err) => log.error({ err }, "writing an answer failed"));
    takeAbsoluteTarget(req);
    const { traceparent, span } = identifyRequest(req, isRpcPath, isPreflight(req) ? undefined : beginSpan);
    if (traceparent !== undefined) {
      res.setHeader("traceparent", traceparent);
    }
    const startedAt = performance.now();
    res.once("close", () => {
      const outcome = outcomeOf(req);
      logRefused(req, startedAt);
      span?.answered(res.headersSent ? res.statusCode : undefined, outcome.hasLine);
      endCall(outcome);
    });
    // Also called without a span: requests on one connection must not run in each other's span.
    const answered = withSpan(span?.span, () => answer(req, res, refusal));
    answered.catch((thrown: unknown) => fail(req, res, thrown));
  };
}

/** An invalid request is the last one on its connection, because nothing shows where the next one begins. */
function check(req: NodeRequest, res: NodeResponse, headersMaxBytes: number): void {
  try {
    checkRequest(req, headersMaxBytes);
  } catch (error) {
    if ("shouldKeepAlive" in res) {
      res.shouldKeepAlive = false;
    }
    throw error;
  }
}

/**
 * Rejects invalid requests that Node accepts. Call this after {@link takeAbsoluteTarget}. Afterwards `req.headers.host` is set,
 * `new URL(req.url, "http://" + host)` cannot throw, and the target is `*` or a path with its query.
 */
function checkRequest(req: NodeRequest, headersMaxBytes: number): void {
  if (req.method === "CONNECT") {
    throw malformed("CONNECT is for proxies, and this is not one.");
  }
  if (req.headers.expect !== undefined && req.headers.expect.toLowerCase() !== "100-continue") {
    throw malformed("The only supported Expect header is 100-continue.");
  }
  checkHeaders(req, headersMaxBytes);
  if (!("stream" in req)) {
    checkHttp1(req);
  }
  checkQuery(req.url ?? "");
  const host = "authority" in req ? req.authority : req.headers.host;
  checkLength("Host", host);
  checkLength("Origin", req.headers.origin);
  if (host === undefined && req.httpVersion === "1.1") {
    throw malformed("The request has no Host header, which HTTP/1.1 requires.");
  }
  if (host && !isHost(host)) {
    throw malformed(`The host "${echo(host)}" is not a name or address with a port.`);
  }
  // HTTP/1.0 does not require a Host header, and the health checks of load balancers send none.
  req.headers.host = host || "localhost";
  if (!req.url?.startsWith("/") && req.url !== "*") {
    throw malformed(`The request target "${echo(req.url ?? "")}" is not a path.`);
  }
}

/** The maximum length of Host and Origin: more than any name (RFC 1035: 253). Parsing a host of 15 kB takes 7 ms. */
const hostMaxBytes = 300;

function checkLength(name: "Host" | "Origin", value: string | undefined): void {
  if (value !== undefined && value.length > hostMaxBytes) {
    throw malformed(
      `The ${name} of the request has ${value.length} bytes; at most ${hostMaxBytes} are read.`,
    );
  }
}

/** The maximum number of query parameters: more than any call has fields. Reading thousands takes milliseconds. */
const parametersMax = 64;

function checkQuery(target: string): void {
  const query = target.indexOf("?");
  const count = query === -1 ? 0 : target.slice(query).split("&").length;
  if (count > parametersMax) {
    throw malformed(`The query of the request has ${count} parameters; at most ${parametersMax} are read.`);
  }
}

function isHost(host: string): boolean {
  return !/[\s/?#@\\]/.test(host) && URL.canParse(`http://${host}`);
}

/** Headers of which Node silently keeps only the first, while a proxy may use the last. */
const onlyOnce = ["host", "authorization", "content-type"];

/** Rejects repeated headers (RFC 9110 section 5.3) and large headers: over HTTP/2, Node accepts 64 KiB. */
function checkHeaders({ rawHeaders }: NodeRequest, headersMaxBytes: number): void {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = onlyOnce.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) {
    throw malformed(`The request has more than one ${twice} header.`);
  }
  if (rawHeaders.join("").length > headersMaxBytes) {
    throw new KibitzError("headers_too_large", "The request headers are larger than 16 KiB.");
  }
}

/** Rejects versions such as 0.9 or 2.0, and transfer codings that Node does not decode, although Node's parser accepts them. */
function checkHttp1({ httpVersion, headers }: NodeRequest): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw malformed("The request is neither HTTP/1.1 nor HTTP/1.0. HTTP/2 starts with its own preface.");
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) {
    return;
  }
  // RFC 9112 section 6.1.
  if (httpVersion === "1.0") {
    throw malformed("HTTP/1.0 has no Transfer-Encoding.");
  }
  // Nothing shows where such a body ends (RFC 9112 section 6.3).
  if (!/(?:^|[,\s])chunked$/i.test(coding)) {
    throw malformed(`The Transfer-Encoding "${echo(coding)}" does not end with chunked.`);
  }
  // RFC 9112 section 6.1.
  if (coding.toLowerCase() !== "chunked") {
    throw new KibitzError("unimplemented", "The only supported Transfer-Encoding is chunked.");
  }
}

/** Replaces an absolute request target by its path. Its host replaces the Host header (RFC 9112 section 3.2.2). */
function takeAbsoluteTarget(req: NodeRequest): void {
  if (req.url?.startsWith("/")) {
    return;
  }
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(req.url ?? "");
  if (absolute === null) {
    return;
  }
  const [, host, rest = ""] = absolute;
  req.headers.host = host;
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
}

function malformed(detail: string): KibitzError {
  return new KibitzError("malformed_http", detail);
}

/** Sends 100 Continue only when a handler reads the body: a request may be rejected before that (RFC 9110 section 10.1.1). */
export function continueWhenRead(req: NodeRequest, res: NodeResponse): void {
  const listen = (event: string | symbol) => {
    if (event !== "data" && event !== "readable") {
      return;
    }
    req.off("newListener", listen);
    // After an answer, a body is read only to be discarded.
    if (!res.headersSent) {
      res.writeContinue();
    }
  };
  req.on("newListener", listen);
}
