import type { ServerResponse } from "node:http";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import { problemMediaType } from "../../errors/problem.ts";
import type { Log } from "../../log/log.ts";
import { type BeginSpan, closeCall, contextOf, identifyRequest, outcomeOf } from "../../request/context.ts";
import { type Owner, ownEvents, runAs } from "../../request/owner.ts";
import { echo } from "../../text/echo.ts";
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
import { checkRequest } from "./check-request.ts";
import { answerPreflight, setCorsHeaders } from "./cors.ts";
import type { RequestCount } from "./count-request.ts";

export interface DispatchOptions {
  /** Each request goes to these handlers in order, until one of them answers. Later requests see a changed list. */
  readonly handlers: readonly RequestHandler[];
  /** Scripts of these origins may read the answers. `*` means all origins. */
  readonly corsOrigins: readonly string[];
  readonly log: Pick<Log, "error">;
  readonly headersMaxBytes: number;
  readonly isRpcPath: (path: string) => boolean;
  /** Called after each response, to log requests that did not become a call. */
  readonly reportRefused: (req: Pick<NodeRequest, "method">, startedAt: number) => void;
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
  corsOrigins,
  log,
  headersMaxBytes,
  isRpcPath,
  reportRefused,
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
    setCorsHeaders(req, res, corsOrigins);
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
    for (const handler of first ? [first, ...handlers] : [...handlers]) {
      if ((await handler(req, res)) || isGone(res)) {
        rate?.end(res);
        return;
      }
    }
    throw new KibitzError(
      "not_found",
      `There is nothing at ${req.method} ${echo(contextOf(req).path)}. GET / shows how to start; the calls are ` +
        "POST /v1/eval, /v1/eval/stream, /v1/eval/batch, /v1/bestmove, /v1/review, /v1/keys, /mcp, GET /v1/tablebase, /engines and /price.",
    );
  }

  async function handle(req: NodeRequest, res: NodeResponse, counted: Answered): Promise<void> {
    const { traceparent, span } = identifyRequest(req, isRpcPath, isPreflight(req) ? undefined : beginSpan);
    const startedAt = now();
    res.once("close", () => {
      const outcome = outcomeOf(req);
      attempt(() => reportRefused(req, startedAt));
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
