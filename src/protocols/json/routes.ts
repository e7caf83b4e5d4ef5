import { type DescMethod, type DescOneof, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../gen/google/api/http_pb.ts";
import { answer, answer_at_end, batch } from "../../../gen/kibitz/json/v1/options_pb.ts";

export interface Route {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Requests must match the whole path exactly. */
  readonly path: string;
  readonly method: DescMethod;
  /** True if the request is the JSON body; false if it is the query. */
  readonly body: boolean;
}

export function routesFromServices(services: readonly DescService[]): Route[] {
  return services
    .flatMap((service) => service.methods)
    .filter((method) => hasOption(method, http))
    .flatMap((method) => {
      const rule = getOption(method, http);
      return [rule, ...rule.additionalBindings].map((each) => routeFromRule(method, each));
    });
}

function routeFromRule(method: DescMethod, { pattern, body }: HttpRule): Route {
  if (pattern.case === undefined || pattern.case === "custom") {
    throw new Error(`${method}: google.api.http needs get, put, post, delete or patch`);
  }
  return { verb: verbs[pattern.case], path: pattern.value, method, body: body === "*" };
}

const verbs = { get: "GET", put: "PUT", post: "POST", delete: "DELETE", patch: "PATCH" } as const;

/** The form of an answer: one object, server-sent events, one answer for each item of a list, or the last message of a stream. */
type RouteKind = "unary" | "stream" | "batch" | "answer_at_end";

/** Returns the form of a route's answer. A stream is sent as events unless its proto option sets another form. */
export function kindOfRoute({ method }: Pick<Route, "method">): RouteKind {
  if (method.methodKind === "unary") {
    return "unary";
  }
  if (getOption(method, batch)) {
    return "batch";
  }
  return getOption(method, answer_at_end) ? "answer_at_end" : "stream";
}

/** Returns the route that streams the same answer, if there is one, at the same path with `/stream` at its end. */
export function streamOfRoute({ verb, path }: Route, routes: readonly Route[]): Route | undefined {
  return routes.find(
    (stream) => kindOfRoute(stream) === "stream" && stream.verb === verb && stream.path === `${path}/stream`,
  );
}

/** The types of messages that a stream can send, and the type that is the answer. */
interface StreamEvents {
  readonly choice: DescOneof;
  readonly answer: DescOneof["fields"][number];
}

/** The output of a stream must be one choice of messages, one of which is marked as the answer. */
export function eventsOf({ output }: DescMethod): StreamEvents {
  const [choice] = output.oneofs;
  const marked = choice?.fields.find((field) => getOption(field, answer));
  if (choice === undefined || marked === undefined) {
    throw new Error(`${output} must be one choice of messages, one of them (kibitz.json.v1.answer)`);
  }
  return { choice, answer: marked };
}
