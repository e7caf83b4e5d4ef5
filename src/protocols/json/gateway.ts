import type { DescService } from "@bufbuild/protobuf";
import type { AdmitCall, AdmittedCall } from "../../access/admit-call.ts";
import { kindOfCall } from "../../calls/policy.ts";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import {
  abortResponse,
  cancelOnLeave,
  isGone,
  type NodeRequest,
  type NodeResponse,
  type RequestHandler,
} from "../../http/message.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { shownBase } from "../../http/shown-base.ts";
import type { Log } from "../../log/log.ts";
import { ClientDisconnected, contextOf, holdCall, mcpPath, outcomeOf } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import { type AnswerOptions, createRouteHandler, type RouteHandler } from "./answers.ts";
import { exampleOf } from "./read-request.ts";
import { kindOfRoute, type Route, routesFromServices } from "./routes.ts";
import { sendEmpty } from "./send-answer.ts";

interface GatewayOptions extends AnswerOptions {
  readonly services: readonly DescService[];
  readonly admitCall: AdmitCall;
  readonly log: Pick<Log, "error">;
}

interface Answering {
  readonly route: Route;
  readonly handle: RouteHandler;
}

/** Serves the methods as plain JSON over HTTP, at the paths that the proto files set. */
export function createGateway(options: GatewayOptions): RequestHandler {
  const routes = routesFromServices(options.services);
  const routesByPath = new Map<string, Map<string, Answering>>();
  for (const route of routes) {
    const routesByVerb = routesByPath.get(route.path) ?? new Map<string, Answering>();
    routesByPath.set(route.path, routesByVerb);
    const answering = { route, handle: createRouteHandler(route, routes, options) };
    routesByVerb.set(route.verb, answering);
    if (route.verb === "GET") {
      routesByVerb.set("HEAD", answering);
    }
  }

  async function answer({ route, handle }: Answering, req: NodeRequest, res: NodeResponse): Promise<boolean> {
    cancelOnLeave(res, outcomeOf(req));
    using _ = holdCall(outcomeOf(req));
    let admitted: AdmittedCall | undefined;
    try {
      admitted = await options.admitCall(contextOf(req), outcomeOf(req), kindOfCall(route.method));
      // A request that closes before its body is read emits no event.
      if (isGone(res)) {
        return true;
      }
      await handle(req, res, admitted);
    } catch (thrown) {
      if (thrown instanceof ClientDisconnected) {
        return true;
      }
      const error = errorFromUnknown(thrown);
      // The log middleware logs the errors of calls, but not an error that occurs while the answer is written.
      if (error.code === "internal" && outcomeOf(req).code !== "internal") {
        const { id: requestId, path } = contextOf(req);
        const err = thrown instanceof KibitzError ? thrown.cause : thrown;
        options.log.error({ err, requestId, request: echo(path) }, "the gateway failed");
      }
      if (res.headersSent) {
        abortResponse(res);
        return true;
      }
      const { hasLine, answerHeaders } = outcomeOf(req);
      const sent = admitted && !hasLine ? await admitted.refused(error) : error;
      sendProblem(req, res, sent, [...answerHeaders]);
    }
    return true;
  }

  async function refuse(
    req: NodeRequest,
    res: NodeResponse,
    error: KibitzError,
    headers: readonly (readonly [string, string])[] = [],
  ): Promise<true> {
    try {
      await options.admitCall(contextOf(req), outcomeOf(req), "call");
      sendProblem(req, res, error, headers);
    } catch (thrown) {
      sendProblem(req, res, errorFromUnknown(thrown), [...outcomeOf(req).answerHeaders]);
    }
    return true;
  }

  return (req, res) => {
    const { method = "" } = req;
    const { path } = contextOf(req);
    const routesByVerb = routesByPath.get(path);
    if (!routesByVerb) {
      const known = path.slice(0, -1);
      const isKnown = path.endsWith("/") && (routesByPath.has(known) || known === mcpPath);
      const detail = `There is nothing at ${path}. Leave out the slash at the end: ${known}.`;
      return isKnown && refuse(req, res, new KibitzError("not_found", detail));
    }
    const answering = routesByVerb.get(method);
    if (answering) {
      return answer(answering, req, res);
    }
    const allow = [...routesByVerb.keys(), "OPTIONS"].join(", ");
    if (method === "OPTIONS") {
      sendEmpty(res, 204, ["Allow", allow], outcomeOf(req));
      return true;
    }
    const posted = [...routesByVerb.values()].map(({ route }) => route).find(({ body }) => body);
    const detail = `This path supports ${allow}.${posted && method === "GET" ? hintFor(posted, req) : ""}`;
    return refuse(req, res, new KibitzError("method_not_allowed", detail), [["Allow", allow]]);
  };
}

/** For a GET request to a path that needs POST, returns a command that works. Browsers send most of these requests. */
function hintFor(route: Route, { headers }: NodeRequest): string {
  const example = JSON.stringify(exampleOf(route.method.input));
  const command = `curl ${shownBase(headers.host)}${route.path} -H 'Content-Type: application/json' -d '${example}'`;
  const reason =
    kindOfRoute(route) === "stream" ? " EventSource cannot POST: read the events with fetch()." : "";
  return `${reason} Send the request as JSON: ${command}`;
}
