import { type DescMethod, type DescOneof, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../gen/google/api/http_pb.ts";
import { answer, answer_at_end, batch } from "../../../gen/kibitz/json/v1/options_pb.ts";

/** A method of the service at a place of HTTP. */
export interface Route {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The whole path, to be matched exactly. */
  readonly path: string;
  readonly method: DescMethod;
  /** True if the request is the JSON body, false if it is the query. */
  readonly body: boolean;
}

/**
 * The routes that the `google.api.http` options of these services declare. Throws where a rule says
 * more than the gateway does: path variables, parts of a message as body, one place for two methods.
 */
export function routesFromServices(services: readonly DescService[]): Route[] {
  const routes = new Map<string, Route>();
  for (const method of services.flatMap((service) => service.methods)) {
    if (!hasOption(method, http)) {
      continue;
    }
    const rule = getOption(method, http);
    for (const route of [rule, ...rule.additionalBindings].map((each) => routeFromRule(method, each))) {
      const place = `${route.verb} ${route.path}`;
      const taken = routes.get(place);
      if (taken) {
        throw new Error(`${method}: ${place} already belongs to ${taken.method}`);
      }
      routes.set(place, route);
    }
  }
  return [...routes.values()];
}

function routeFromRule(method: DescMethod, rule: HttpRule): Route {
  const { case: kind, value: path } = rule.pattern;
  if (kind === undefined || kind === "custom") {
    throw new Error(`${method}: google.api.http needs get, put, post, delete or patch`);
  }
  if (!path.startsWith("/") || path.includes("{") || path.includes("*")) {
    throw new Error(`${method}: only a fixed path can be served, not "${path}"`);
  }
  if (rule.body !== "*" && rule.body !== "") {
    throw new Error(`${method}: the body is the whole request ("*") or nothing (""), not "${rule.body}"`);
  }
  return { verb: verbs[kind], path, method, body: rule.body === "*" };
}

const verbs = { get: "GET", put: "PUT", post: "POST", delete: "DELETE", patch: "PATCH" } as const;

/**
 * The form of a route's answer: one object, server-sent events, an answer for each item of a list, or the last message of a
 * stream.
 */
type RouteKind = "unary" | "stream" | "batch" | "answer_at_end";

/** A stream is sent as events unless its proto says otherwise. */
export function kindOfRoute({ method }: Pick<Route, "method">): RouteKind {
  switch (method.methodKind) {
    case "unary":
      return "unary";
    case "server_streaming":
      if (getOption(method, batch)) {
        return "batch";
      }
      return getOption(method, answer_at_end) ? "answer_at_end" : "stream";
    default:
      throw new Error(`${method}: a stream of requests has no form in plain JSON`);
  }
}

/** The route with the states of another route's answer, if there is one: the same question and answer, at the path below. */
export function streamOfRoute({ verb, path, method }: Route, routes: readonly Route[]): Route | undefined {
  return routes.find(
    (stream) =>
      kindOfRoute(stream) === "stream" &&
      stream.method.input === method.input &&
      eventsOf(stream.method).answer.message === method.output &&
      stream.verb === verb &&
      stream.path === `${path}/stream`,
  );
}

/** The messages that a stream chooses from, and which of them is the answer. */
interface StreamEvents {
  readonly choice: DescOneof;
  readonly answer: DescOneof["fields"][number];
}

/**
 * The events of a stream by its proto: its message is one choice of messages, and one of them is marked as the answer.
 *
 * @throws Error if the message is anything else, or an event has a name that the gateway uses itself
 */
export function eventsOf(method: DescMethod): StreamEvents {
  const { output } = method;
  const [choice, ...more] = output.oneofs;
  const members = choice?.fields ?? [];
  const [only, ...others] = members.filter((field) => getOption(field, answer));
  if (
    choice === undefined ||
    only === undefined ||
    others.length > 0 ||
    more.length > 0 ||
    members.length < output.fields.length ||
    members.some(({ message, name }) => message === undefined || ownNames.includes(name))
  ) {
    throw new Error(
      `${method}: ${output} must be one choice of messages, one of them (kibitz.json.v1.answer), none called ${ownNames.join(" or ")}`,
    );
  }
  return { choice, answer: only };
}

/** Events that the gateway adds. */
const ownNames = ["done", "error"];
