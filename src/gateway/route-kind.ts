import { getOption } from "@bufbuild/protobuf";
import { batch } from "../../gen/kibitz/json/v1/options_pb.ts";
import type { Route } from "./routes.ts";
import { eventsOf } from "./stream-events.ts";

/** What a route answers with: one object, server-sent events, or an answer for each item of a list. */
export type RouteKind = "unary" | "stream" | "batch";

/** A stream is sent as events unless its proto says that it is a batch. */
export function kindOfRoute({ method }: Pick<Route, "method">): RouteKind {
  switch (method.methodKind) {
    case "unary":
      return "unary";
    case "server_streaming":
      return getOption(method, batch) ? "batch" : "stream";
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
