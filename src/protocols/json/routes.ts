import { type DescMethod, type DescOneof, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../gen/google/api/http_pb.ts";
import { answer, answer_at_end, batch } from "../../../gen/kibitz/json/v1/options_pb.ts";

export interface Route {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A request must have exactly this path. */
  readonly path: string;
  readonly method: DescMethod;
  /** True if the JSON body contains the request. False if the query contains the request. */
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

/** `unary`: one object. `stream`: server-sent events. `batch`: a list of answers. `answer_at_end`: only the last message. */
export type RouteKind = "unary" | "stream" | "batch" | "answer_at_end";

/** Returns the form of a route's answer. For a stream, an option in the proto file can select the form. */
export function kindOfRoute({ method }: Pick<Route, "method">): RouteKind {
  if (method.methodKind === "unary") {
    return "unary";
  }
  if (getOption(method, batch)) {
    return "batch";
  }
  return getOption(method, answer_at_end) ? "answer_at_end" : "stream";
}

/** Returns the route for the same answer as a stream. This route has the same path with `/stream` at the end. */
export function streamOfRoute({ verb, path }: Route, routes: readonly Route[]): Route | undefined {
  return routes.find(
    (stream) => kindOfRoute(stream) === "stream" && stream.verb === verb && stream.path === `${path}/stream`,
  );
}

interface StreamEvents {
  readonly choice: DescOneof;
  readonly answer: DescOneof["fields"][number];
}

/** Throws an error if the output is not a `oneof` of messages, or if no field of the `oneof` has the option `answer`. */
export function eventsOf({ output }: DescMethod): StreamEvents {
  const [choice] = output.oneofs;
  const marked = choice?.fields.find((field) => getOption(field, answer));
  if (choice === undefined || marked === undefined) {
    throw new Error(`${output} must be one choice of messages, one of them (kibitz.json.v1.answer)`);
  }
  return { choice, answer: marked };
}
