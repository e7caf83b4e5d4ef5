import type { Route } from "./routes.ts";

/** What a route answers with: one object, server-sent events, or an answer for each item of a list. */
export type RouteKind = "unary" | "stream" | "batch";

/** Tells by the descriptor: the answers of a batch say by their `index` which item they belong to. */
export function kindOfRoute({ method }: Route): RouteKind {
  switch (method.methodKind) {
    case "unary":
      return "unary";
    case "server_streaming":
      return method.output.field.index ? "batch" : "stream";
    default:
      throw new Error(`${method}: a stream of requests has no form in plain JSON`);
  }
}

/** The route with the states of another route's answer, if there is one: the same question and answer, at the path below. */
export function streamOfRoute({ verb, path, method }: Route, routes: readonly Route[]): Route | undefined {
  return routes.find(
    (stream) =>
      stream.method.methodKind === "server_streaming" &&
      stream.method.input === method.input &&
      stream.method.output === method.output &&
      stream.verb === verb &&
      stream.path === `${path}/stream`,
  );
}
