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
  /** Called in this order; the first one that takes a request keeps it. */
  readonly handlers: readonly RequestHandler[];
  readonly cors: Cors;
  readonly log: Pick<Log, "error">;
  readonly headersMaxBytes: number;
  /** True for a path below that of a service. */
  readonly isRpcPath: (path: string) => boolean;
  /** Called when the answer to a request has ended: logs it if it did not become a call. */
  readonly logRefused: (req: Pick<NodeRequest, "method">, startedAt: number) => void;
  readonly refuse: Refuse;
  /** Begins the spans of requests, except preflights. */
  readonly beginSpan?: BeginSpan | undefined;
}

/** Refuses a request before any handler sees it, in the protocol of its caller. */
export type Refuse = (error: KibitzError, req: NodeRequest, res: NodeResponse) => void;

/**
 * The edge: identifies a request once, then offers it to the handlers in turn; a request that none of them takes is 404.
 * A request that breaks the rules, or a handler that throws, ends in an answer and never in the process's end.
 */
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
    // First, because errors have these headers too.
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

  /** Answers a request, or refuses it with an error. */
  return (req: NodeRequest, res: NodeResponse, refusal?: KibitzError): void => {
    // A disconnect may make the request emit an error. Without a listener, it would end the process.
    req.on("error", () => {});
    // Writing after the end is a mistake in a handler, but one that would end the process.
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
    // Also without a span: requests on one connection must not run in each other's span.
    const answered = withSpan(span?.span, () => answer(req, res, refusal));
    answered.catch((thrown: unknown) => fail(req, res, thrown));
  };
}

/** A request that breaks the rules is the last one of its connection, because nothing shows where the next one begins. */
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
 * Refuses requests that Node accepts. To be called after {@link takeAbsoluteTarget}. Afterwards `req.headers.host` is there for every
 * version, `new URL(req.url, "http://" + host)` cannot throw, and the target is a path with its query, or `*`.
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
  // HTTP/1.0 need not say a host, and the health checks of load balancers do not.
  req.headers.host = host || "localhost";
  if (!req.url?.startsWith("/") && req.url !== "*") {
    throw malformed(`The request target "${echo(req.url ?? "")}" is not a path.`);
  }
}

/** Longer than any name (RFC 1035: 253), with scheme and port. To read 15 kB of percent-encoded text as a host takes 7 ms. */
const hostMaxBytes = 300;

function checkLength(name: "Host" | "Origin", value: string | undefined): void {
  if (value !== undefined && value.length > hostMaxBytes) {
    throw malformed(
      `The ${name} of the request has ${value.length} bytes; at most ${hostMaxBytes} are read.`,
    );
  }
}

/** Far more than any call has fields. To read thousands takes milliseconds. */
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

/** Headers of which Node keeps the first and drops the others silently, while a proxy may believe the last. */
const onlyOnce = ["host", "authorization", "content-type"];

/** Refuses a second one of these (RFC 9110 section 5.3), and more than `maxHeaderListSize`: Node accepts 64 KiB over HTTP/2. */
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

/** Refuses HTTP/1 that Node's parser accepts: requests that call themselves 0.9 or 2.0, and framings that it does not undo. */
function checkHttp1({ httpVersion, headers }: NodeRequest): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw malformed("The request is neither HTTP/1.1 nor HTTP/1.0. HTTP/2 starts with its own preface.");
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) {
    return;
  }
  // RFC 9112 section 6.1: such a message is to be treated as if its framing were faulty.
  if (httpVersion === "1.0") {
    throw malformed("HTTP/1.0 has no Transfer-Encoding.");
  }
  // RFC 9112 section 6.3: nothing shows where such a body ends.
  if (!/(?:^|[,\s])chunked$/i.test(coding)) {
    throw malformed(`The Transfer-Encoding "${echo(coding)}" does not end with chunked.`);
  }
  // RFC 9112 section 6.1: 501 for a transfer coding that is not understood.
  if (coding.toLowerCase() !== "chunked") {
    throw new KibitzError("unimplemented", "The only supported Transfer-Encoding is chunked.");
  }
}

/** RFC 9112 section 3.2.2: servers accept the target that is meant for proxies, and its host counts. */
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

/**
 * Sends 100 Continue when a handler begins to read the body, and not before: a request that is refused by its headers alone gets its error
 * without being asked for the body (RFC 9110 section 10.1.1). By itself Node sends it always.
 */
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
