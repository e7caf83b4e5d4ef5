import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import type { Log } from "../../log/log.ts";
import { contextOf, identifyRequest } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { isGone, type NodeRequest, type NodeResponse, type RequestHandler } from "../message.ts";
import { sendProblem } from "../send-problem.ts";
import { checkRequest, takeAbsoluteTarget } from "./check-request.ts";
import type { Cors } from "./cors.ts";

export interface DispatchOptions {
  /** Asked in this order; the first one that takes a request keeps it. */
  readonly handlers: readonly RequestHandler[];
  readonly cors: Cors;
  readonly log: Pick<Log, "error">;
  readonly headersMaxBytes: number;
  /** Whether a path is below that of a service. */
  readonly isRpcPath: (path: string) => boolean;
  /** Told when the answer to a request has ended, whatever it was. */
  readonly tellRefused: (req: NodeRequest, startedAt: number) => void;
}

/**
 * The edge: finds out once who asks, then offers the request to the handlers in turn; what none of them takes is 404.
 * A request that breaks the rules, or a handler that throws, ends in an answer and never in the process's end.
 */
export function createDispatch({
  handlers,
  cors,
  log,
  headersMaxBytes,
  isRpcPath,
  tellRefused,
}: DispatchOptions): (req: NodeRequest, res: NodeResponse) => void {
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
      res.destroy();
    } else {
      sendProblem(req, res, error);
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
      `There is nothing at ${req.method} ${echo(contextOf(req).path)}. GET / shows how to start; the calls are ` +
        "POST /v1/eval, /v1/eval/stream, /v1/eval/batch, /v1/bestmove, /v1/keys, GET /engines and /price.",
    );
  }

  return (req, res) => {
    // Who leaves may make the request emit this; Connect takes its own listener off too early, and two pipelined
    // requests with a disconnect ended the process (repair `hearLateErrors`).
    req.on("error", () => {});
    // Writing after the end is a mistake in a handler, but one that would end the process.
    res.on("error", (err) => log.error({ err }, "writing an answer failed"));
    takeAbsoluteTarget(req);
    const { traceparent } = identifyRequest(req, isRpcPath);
    if (traceparent !== undefined) {
      res.setHeader("traceparent", traceparent);
    }
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
