import { randomBytes } from "node:crypto";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import type { Log } from "../../log/log.ts";
import { callerFromRequest, requestIdFrom } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { isGone, type NodeRequest, type NodeResponse, pathOf, type RequestHandler } from "../message.ts";
import { sendProblem } from "../send-problem.ts";
import { checkRequest } from "./check-request.ts";
import type { Cors } from "./cors.ts";

/**
 * Offers each request to the handlers in turn; what none of them takes is 404. A request that breaks the rules,
 * or a handler that throws, ends in an answer and never in the process's end.
 *
 * @param tellRefused is told when the answer to a request has ended, whatever it was
 */
export function createDispatch(
  handlers: readonly RequestHandler[],
  cors: Cors,
  log: Pick<Log, "error">,
  headersMaxBytes: number,
  tellRefused: (req: NodeRequest, startedAt: number) => void,
): (req: NodeRequest, res: NodeResponse) => void {
  function fail(req: NodeRequest, res: NodeResponse, thrown: unknown): void {
    const error = errorFromUnknown(thrown);
    const { requestId } = callerFromRequest(req, "json");
    if (error.code === "internal") {
      log.error(
        { err: error.cause, requestId, method: req.method ?? "", request: echo(pathOf(req)) },
        "a handler threw",
      );
    }
    if (res.headersSent) {
      res.destroy();
    } else {
      sendProblem(req, res, error, requestId);
    }
  }

  /** Offers a request to the handlers from one on. Those that have to find something out go on later. */
  function offer(req: NodeRequest, res: NodeResponse, from: number): void {
    for (let index = from; index < handlers.length; index++) {
      const taken = handlers[index]?.(req, res);
      if (taken instanceof Promise) {
        taken
          .then((isTaken) => {
            if (!isTaken && !isGone(res)) {
              offer(req, res, index + 1);
            }
          })
          .catch((thrown: unknown) => fail(req, res, thrown));
        return;
      }
      if (taken) {
        return;
      }
    }
    throw new KibitzError(
      "not_found",
      `There is nothing at ${req.method} ${echo(pathOf(req))}. GET / shows how to start; the calls are ` +
        "POST /v1/eval, /v1/eval/stream, /v1/eval/batch, /v1/bestmove, /v1/keys, GET /engines and /price.",
    );
  }

  return (req, res) => {
    // Who leaves may make the request emit this; Connect takes its own listener off too early, and two pipelined
    // requests with a disconnect ended the process (repair `hearLateErrors`).
    req.on("error", () => {});
    // Writing after the end is a mistake in a handler, but one that would end the process.
    res.on("error", (err) => log.error({ err }, "writing an answer failed"));
    identify(req, res);
    const startedAt = performance.now();
    res.once("close", () => tellRefused(req, startedAt));
    try {
      if (cors.apply(req, res)) {
        return;
      }
      check(req, res, headersMaxBytes);
      offer(req, res, 0);
    } catch (thrown) {
      fail(req, res, thrown);
    }
  };
}

/** A request that breaks the rules is the last one of its connection: where the next one begins is not to be guessed. */
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
 * Gives a request its id and, if its sender traces, its own span of that trace. Afterwards both stand in the
 * request's headers `x-request-id` and `traceparent`, whoever reads them; the span is in the answer already.
 */
export function identify(req: NodeRequest, res: NodeResponse): void {
  const { headers } = req;
  headers["x-request-id"] = requestIdFrom(headers["x-request-id"]);
  if (headers.traceparent === undefined) {
    return;
  }
  const span = spanBelow(headers.traceparent);
  if (span === undefined) {
    // W3C Trace Context: what cannot be read is ignored, and a trace of our own would be of no use to anybody.
    delete headers.traceparent;
  } else {
    headers.traceparent = span;
    res.setHeader("traceparent", span);
  }
}

const pattern = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-([\da-f]{2})(-.*)?$/;

/** A new span below the one that a `traceparent` header names, as such a header. */
export function spanBelow(traceparent: string | readonly string[]): string | undefined {
  const [, version, traceId, flags, more] = pattern.exec(String(traceparent)) ?? [];
  // Later versions may add fields, and are read as far as this one knows them.
  if (traceId === undefined || (version === "00" && more !== undefined)) {
    return undefined;
  }
  // Of the flags one is known: that the caller records the trace. The others have to be zero.
  const sampled = Number.parseInt(flags ?? "", 16) & 1;
  return `00-${traceId}-${randomBytes(8).toString("hex")}-0${sampled}`;
}
