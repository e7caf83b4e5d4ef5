import type { DescService } from "@bufbuild/protobuf";
import { callerFromRequest } from "../caller.ts";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import { pathOf, type RequestHandler } from "../server/node-message.ts";
import { sendProblem } from "../server/send-problem.ts";
import { echo } from "../text/plain-text.ts";
import type { Answer, StreamAnswerOptions, UnaryAnswerOptions } from "./answer.ts";
import { createBatchAnswer } from "./answer-batch.ts";
import { createStreamAnswer, eventStream } from "./answer-stream.ts";
import { createUnaryAnswer } from "./answer-unary.ts";
import { prefers } from "./media-types.ts";
import { kindOfRoute, streamOfRoute } from "./route-kind.ts";
import { type Route, routesFromServices } from "./routes.ts";
import { send } from "./send.ts";

export interface GatewayOptions extends UnaryAnswerOptions, StreamAnswerOptions {
  readonly services: readonly DescService[];
  readonly log: Pick<Log, "error">;
}

/** What stands at one path. */
interface Place {
  readonly answers: Map<string, Answer>;
  /** The value of the Allow header. */
  allow: string;
  /** Whether it answers with events. */
  streams: boolean;
}

/**
 * Serves the methods of the services as plain JSON over HTTP, at the paths that their proto gives them:
 * one more protocol in front of the same calls. All that depends on a descriptor is done here, once.
 */
export function createGateway(options: GatewayOptions): RequestHandler {
  const places = new Map<string, Place>();
  const routes = routesFromServices(options.services);
  for (const route of routes) {
    const place = places.get(route.path) ?? { answers: new Map<string, Answer>(), allow: "", streams: false };
    const answer = answerOf(route, routes, options);
    place.answers.set(route.verb, answer);
    if (route.verb === "GET") {
      place.answers.set("HEAD", answer);
    }
    place.streams ||= kindOfRoute(route) === "stream";
    place.allow = [...place.answers.keys(), "OPTIONS"].join(", ");
    places.set(route.path, place);
  }

  return (req, res) => {
    const { method = "" } = req;
    const path = pathOf(req);
    const place = places.get(path);
    if (!place) {
      const isKnown = path.endsWith("/") && places.has(path.slice(0, -1));
      if (isKnown) {
        const detail = `There is nothing at ${path}. Leave out the slash at the end: ${path.slice(0, -1)}.`;
        const { requestId } = callerFromRequest(req, "json");
        sendProblem(req, res, new KibitzError("not_found", detail), requestId);
      }
      return isKnown;
    }
    const caller = callerFromRequest(req, "json");
    const answer = place.answers.get(method);
    if (answer) {
      answer(req, res, caller).catch((thrown: unknown) => {
        // What a call throws is logged by its interceptors and arrives here translated.
        if (!(thrown instanceof KibitzError)) {
          options.log.error(
            { err: thrown, requestId: caller.requestId, request: echo(pathOf(req)) },
            "the gateway failed",
          );
        }
        if (res.headersSent) {
          // Half an answer must not look like a whole one.
          res.destroy();
        } else {
          sendProblem(req, res, errorFromUnknown(thrown), caller.requestId, [...caller.answerHeaders]);
        }
      });
    } else if (method === "OPTIONS") {
      send(res, 204, ["Allow", place.allow], caller);
    } else {
      const hint =
        place.streams && method === "GET" ? " EventSource cannot POST: read the events with fetch()." : "";
      const error = new KibitzError("method_not_allowed", `This path supports ${place.allow}.${hint}`);
      sendProblem(req, res, error, caller.requestId, [["Allow", place.allow]]);
    }
    return true;
  };
}

function answerOf(route: Route, routes: readonly Route[], options: GatewayOptions): Answer {
  switch (kindOfRoute(route)) {
    case "unary": {
      const answerOnce = createUnaryAnswer(route, options);
      const stream = streamOfRoute(route, routes);
      if (!stream) {
        return answerOnce;
      }
      const answerStream = createStreamAnswer(stream, options);
      return (req, res, caller) =>
        prefers(req.headers.accept, eventStream, "application/json")
          ? answerStream(req, res, caller)
          : answerOnce(req, res, caller);
    }
    case "stream":
      return createStreamAnswer(route, options);
    case "batch":
      return createBatchAnswer(route, options);
  }
}
