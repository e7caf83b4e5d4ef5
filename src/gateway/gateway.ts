import type { DescService } from "@bufbuild/protobuf";
import { callerFromRequest } from "../caller.ts";
import { errorFromUnknown, KibitzError } from "../errors.ts";
import type { Log } from "../log.ts";
import { pathOf, type RequestHandler } from "../server/node-message.ts";
import { sendProblem } from "../server/send-problem.ts";
import { type Answer, createUnaryAnswer, type UnaryAnswerOptions } from "./answer-unary.ts";
import { type Route, routesFromServices } from "./routes.ts";
import { send } from "./send.ts";

export interface GatewayOptions extends UnaryAnswerOptions {
  readonly services: readonly DescService[];
  readonly log: Pick<Log, "error">;
}

/** What stands at one path. */
interface Place {
  readonly answers: Map<string, Answer>;
  /** The value of the Allow header. */
  allow: string;
}

/**
 * Serves the methods of the services as plain JSON over HTTP, at the paths that their proto gives them:
 * one more protocol in front of the same calls. All that depends on a descriptor is done here, once.
 */
export function createGateway(options: GatewayOptions): RequestHandler {
  const places = new Map<string, Place>();
  for (const route of routesFromServices(options.services)) {
    const place = places.get(route.path) ?? { answers: new Map<string, Answer>(), allow: "" };
    const answer = answerOf(route, options);
    place.answers.set(route.verb, answer);
    if (route.verb === "GET") {
      place.answers.set("HEAD", answer);
    }
    place.allow = [...place.answers.keys(), "OPTIONS"].join(", ");
    places.set(route.path, place);
  }

  return (req, res) => {
    const { method = "" } = req;
    const place = places.get(pathOf(req));
    if (!place) {
      return false;
    }
    const caller = callerFromRequest(req, "json");
    const answer = place.answers.get(method);
    if (answer) {
      answer(req, res, caller).catch((thrown: unknown) => {
        // What a call throws is logged by its interceptors and arrives here translated.
        if (!(thrown instanceof KibitzError)) {
          options.log.error(
            { err: thrown, requestId: caller.requestId, path: req.url },
            "the gateway failed",
          );
        }
        sendProblem(req, res, errorFromUnknown(thrown), caller.requestId, [...caller.answerHeaders]);
      });
    } else if (method === "OPTIONS") {
      send(res, 204, ["Allow", place.allow], caller);
    } else {
      const error = new KibitzError("method_not_allowed", `This path answers ${place.allow}.`);
      sendProblem(req, res, error, caller.requestId, [["Allow", place.allow]]);
    }
    return true;
  };
}

function answerOf(route: Route, options: GatewayOptions): Answer {
  if (route.method.methodKind === "unary") {
    return createUnaryAnswer(route, options);
  }
  return () =>
    Promise.reject(
      new KibitzError("unimplemented", `${route.path} is declared, but this version does not answer it yet.`),
    );
}
