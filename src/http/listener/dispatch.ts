import type { ServerResponse } from "node:http";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import { problemMediaType } from "../../errors/problem.ts";
import type { Log } from "../../log/log.ts";
import { type BeginSpan, closeCall, contextOf, identifyRequest, outcomeOf } from "../../request/context.ts";
import { type Owner, ownEvents, runAs } from "../../request/owner.ts";
import { echo } from "../../text/plain-text.ts";
import { now, sleep } from "../../time/time.ts";
import { withSpan } from "../../tracing/spans.ts";
import {
  abortResponse,
  isGone,
  isPreflight,
  type NodeRequest,
  type NodeResponse,
  type RequestHandler,
} from "../message.ts";
import { answerNotFound } from "../pages/not-found.ts";
import { sendProblem } from "../send-problem.ts";
import { answerPreflight, type Cors } from "./cors.ts";
import type { RequestCount } from "./count-request.ts";
import { headerBytes } from "./header-bytes.ts";

export interface DispatchOptions {
  /** Each request goes to these handlers in order, until one of them answers. */
  readonly handlers: readonly RequestHandler[];
  readonly cors: Cors;
  readonly log: Pick<Log, "error">;
  readonly headersMaxBytes: number;
  readonly isRpcPath: (path: string) => boolean;
  /** Called after each response, to log requests that did not become a call. */
  readonly logRefused: (req: Pick<NodeRequest, "method">, startedAt: number) => void;
  readonly refuse: Refuse;
  /** Begins the trace span of a request. Not called for a preflight. */
  readonly beginSpan?: BeginSpan | undefined;
}

type Answered = Exclude<RequestCount, { readonly kind: "reset" }>;

/** Milliseconds before a caller learns that its rate is used up, so that clients that retry at once do not slow down others. */
const refusalPauseMs = 100;

export type Refuse = (error: KibitzError, req: NodeRequest, res: NodeResponse) => void;

/** Passes each request to the first handler that accepts the request. An error of a handler never ends the process. */
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
  /** Runs a step and logs its error. Never throws. Returns false after an error. */
  function attempt(step: () => void): boolean {
    try {
      step();
      return true;
    } catch (err) {
      try {
        log.error({ err }, "ending a request failed");
      } catch {
        // Nothing can report that the log is broken.
      }
      return false;
    }
  }

  /** Ends the answer after an error. Never throws, because nothing catches its errors: behind each step is a plainer one. */
  function fail(req: NodeRequest, res: NodeResponse, thrown: unknown): void {
    attempt(() => report(req, thrown));
    end(req, res, thrown);
  }

  function end(req: NodeRequest, res: NodeResponse, thrown: unknown): void {
    attempt(() => {
      outcomeOf(req).hasFailed = true;
    });
    attempt(() => explain(req, res, thrown)) ||
      attempt(() => answerPlainly(res)) ||
      attempt(() => abortResponse(res));
  }

  function report(req: NodeRequest, thrown: unknown): void {
    const error = errorFromUnknown(thrown);
    if (error.code === "internal") {
      const { id: requestId, path } = contextOf(req);
      log.error(
        { err: error.cause, requestId, method: req.method ?? "", request: echo(path) },
        "a handler threw",
      );
    }
  }

  function explain(req: NodeRequest, res: NodeResponse, thrown: unknown): void {
    const error = errorFromUnknown(thrown);
    if (res.headersSent) {
      abortResponse(res);
    } else if (error.code === "internal") {
      refuse(error, req, res);
    } else if (!answerNotFound(req, res, error)) {
      sendProblem(req, res, error);
    }
  }

  async function answer(req: NodeRequest, res: NodeResponse, counted: Answered): Promise<void> {
    cors(req, res);
    if (counted.kind === "refused") {
      check(req, res, headersMaxBytes);
      refuse(counted.error, req, res);
      return;
    }
    const { rate, first } = counted;
    const overRate = rate?.begin();
    if (overRate) {
      await sleep(refusalPauseMs);
    }
    check(req, res, headersMaxBytes);
    if (overRate) {
      refuse(overRate, req, res);
      return;
    }
    if (isPreflight(req)) {
      answerPreflight(req, res);
      return;
    }
    for (const handler of first ? [first, ...handlers] : handlers) {
      if ((await handler(req, res)) || isGone(res)) {
        rate?.end(res);
        return;
      }
    }
    throw new KibitzError(
      "not_found",
      `There is nothing at ${req.method} ${echo(contextOf(req).path)}. GET / shows how to start; the calls are ` +
        "POST /v1/eval, /v1/eval/stream, /v1/eval/batch, /v1/bestmove, /v1/review, /v1/keys, /mcp, GET /engines and /price.",
    );
  }

  async function handle(req: NodeRequest, res: NodeResponse, counted: Answered): Promise<void> {
    const { traceparent, span } = identifyRequest(req, isRpcPath, isPreflight(req) ? undefined : beginSpan);
    const startedAt = now();
    res.once("close", () => {
      const outcome = outcomeOf(req);
      attempt(() => logRefused(req, startedAt));
      attempt(() => span?.answered(res.headersSent ? res.statusCode : undefined, outcome.hasLine));
      attempt(() => closeCall(outcome));
    });
    if (traceparent !== undefined) {
      res.setHeader("traceparent", traceparent);
    }
    // Without `withSpan`, the request could run in the span of another request on the same connection.
    await withSpan(span?.span, () => answer(req, res, counted));
  }

  /** An error that nothing catches ends the request. If the answer is already complete, the client keeps this answer. */
  function ownerOfRequest(req: NodeRequest, res: NodeResponse): Owner {
    return {
      get fields() {
        const { id: requestId, path } = contextOf(req);
        return { requestId, method: req.method ?? "", request: echo(path) };
      },
      end(thrown) {
        if (!res.writableEnded) {
          attempt(() => {
            outcomeOf(req).code ??= "internal";
          });
          end(req, res, thrown);
        }
      },
    };
  }

  return (req: NodeRequest, res: NodeResponse, counted: Answered): void => {
    const owner = ownerOfRequest(req, res);
    for (const emitter of "stream" in req ? [req, res, req.stream] : [req, res]) {
      ownEvents(emitter, owner);
    }
    runAs(owner, () => {
      // Without listeners for errors, a disconnect or a late write would end the process.
      req.on("error", () => {});
      res.on("error", (err) => attempt(() => log.error({ err }, "writing an answer failed")));
      handle(req, res, counted).catch((thrown: unknown) => fail(req, res, thrown));
    });
  };
}

const plainError = `${JSON.stringify({
  type: "/problems/internal",
  title: "Internal error",
  status: 500,
  code: "internal",
  detail: "Something failed inside the service.",
  next_action: "retry_now",
  retryable: true,
})}\n`;

/** Sends a constant error, because the error of the request could not be sent. Aborts an answer that has begun. */
function answerPlainly(response: NodeResponse): void {
  // HTTP/1.1 and HTTP/2 responses have the same methods, but TypeScript cannot combine their overloads.
  const res = response as ServerResponse;
  if (res.headersSent) {
    abortResponse(res);
    return;
  }
  for (const name of res.getHeaderNames()) {
    res.removeHeader(name);
  }
  res.shouldKeepAlive = false;
  res.writeHead(500, { "Content-Type": problemMediaType, "Content-Length": plainError.length });
  res.end(plainError);
}

/** Closes the connection after an invalid request, because the server cannot know where the next request begins. */
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
 * Rejects invalid requests that Node accepts. Call `takeAbsoluteTarget` before this function.
 * After this check, `req.headers.host` is set, and `new URL(req.url, "http://" + host)` cannot throw.
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
  checkScheme(req);
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
  // HTTP/1.0 does not require a Host header, and the health checks of load balancers do not send this header.
  req.headers.host = host || "localhost";
  if (!req.url?.startsWith("/") && req.url !== "*") {
    throw malformed(`The request target "${echo(req.url ?? "")}" is not a path.`);
  }
}

/** Rejects other schemes than http and https. A proxy that ends TLS sends https. */
function checkScheme(req: NodeRequest): void {
  const scheme = "scheme" in req ? req.scheme : /^([a-z][a-z\d+.-]*):/i.exec(req.url ?? "")?.[1];
  if (scheme !== undefined && !/^https?$/i.test(scheme)) {
    throw malformed(`The scheme "${echo(scheme)}" is not served: send http or https.`);
  }
}

/** The maximum length of the headers Host and Origin. Parsing 15 kB would take 7 ms. */
const hostMaxBytes = 300;

function checkLength(name: "Host" | "Origin", value: string | undefined): void {
  if (value !== undefined && value.length > hostMaxBytes) {
    throw malformed(
      `The ${name} of the request has ${value.length} bytes; at most ${hostMaxBytes} are read.`,
    );
  }
}

/** The maximum number of query parameters. Parsing thousands of parameters would take milliseconds. */
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

/** A request must not repeat these headers: Node uses only the first value, but a proxy can use the last value. */
const onlyOnce = ["host", "authorization", "content-type"];

/** Rejects repeated headers (RFC 9110 section 5.3) and headers that are too large. Over HTTP/2, Node would accept 64 KiB. */
function checkHeaders({ rawHeaders }: NodeRequest, headersMaxBytes: number): void {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = onlyOnce.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) {
    throw malformed(`The request has more than one ${twice} header.`);
  }
  if (headerBytes(rawHeaders) > headersMaxBytes) {
    throw new KibitzError("headers_too_large", "The request headers are larger than 16 KiB.");
  }
}

/** Rejects HTTP versions and transfer codings that Node's parser accepts although this service does not support them. */
function checkHttp1({ httpVersion, headers }: NodeRequest): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw malformed("The request is neither HTTP/1.1 nor HTTP/1.0. HTTP/2 starts with its own preface.");
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) {
    return;
  }
  // The end of such a body is uncertain (RFC 9112 section 6.1).
  if (httpVersion === "1.0") {
    throw malformed("HTTP/1.0 has no Transfer-Encoding.");
  }
  // The end of such a body cannot be found (RFC 9112 section 6.3).
  if (!/(?:^|[,\s])chunked$/i.test(coding)) {
    throw malformed(`The Transfer-Encoding "${echo(coding)}" does not end with chunked.`);
  }
  // An unsupported coding needs the status 501 (RFC 9112 section 6.1).
  if (coding.toLowerCase() !== "chunked") {
    throw new KibitzError("unimplemented", "The only supported Transfer-Encoding is chunked.");
  }
}

function malformed(detail: string): KibitzError {
  return new KibitzError("malformed_http", detail);
}

/** Sends 100 Continue when a handler begins to read the body, and not to a rejected request (RFC 9110 section 10.1.1). */
export function continueWhenRead(req: NodeRequest, res: NodeResponse): void {
  const listen = (event: string | symbol) => {
    if (event !== "data" && event !== "readable") {
      return;
    }
    req.off("newListener", listen);
    // After an answer has begun, the body is read only to be discarded.
    if (!res.headersSent) {
      res.writeContinue();
    }
  };
  req.on("newListener", listen);
}
