import type { ErrorCode } from "../../src/errors/catalog.ts";
import type { Route } from "../../src/protocols/json/routes.ts";

/** The only list of errors by call, because many modules report them. Tests compare it with a running service. */
export function errorsOfRoute(route: Route): readonly ErrorCode[] {
  const { method, body } = route;
  return [
    ...everywhere,
    ...(body ? inBodies : []),
    ...(!body && method.input.fields.length > 0 ? inValues : []),
    ...(byMethod[method.name] ?? []),
  ];
}

/** The errors that every call can end with, because the credential and all fields of the query are always checked. */
const everywhere: readonly ErrorCode[] = [
  "malformed_http",
  "unknown_field",
  "invalid_api_key",
  "not_acceptable",
  "request_timeout",
  "uri_too_long",
  "headers_too_large",
  "internal",
  "rate_limited",
  "concurrency_limited",
  "overloaded",
  "store_unavailable",
  "starting",
  "shutting_down",
];

const inValues: readonly ErrorCode[] = ["invalid_type", "out_of_range"];

const inBodies: readonly ErrorCode[] = [
  ...inValues,
  "malformed_json",
  "body_too_large",
  "unsupported_media_type",
];

/** The errors of calls that are counted. Such calls need a key if the operator requires one. */
const counted: readonly ErrorCode[] = ["api_key_required", "upgrade_needed"];

/** The errors of analyses. `deadline_exceeded` is not among them, because callers of plain JSON disconnect at their deadline. */
const inAnalyses: readonly ErrorCode[] = [
  ...counted,
  "invalid_fen",
  "illegal_position",
  "illegal_move",
  "invalid_option",
  "option_not_allowed",
  "unknown_engine",
  "path_unavailable",
  "quota_exhausted",
  "engine_timeout",
];

const byMethod: Readonly<Record<string, readonly ErrorCode[]>> = {
  Evaluate: inAnalyses,
  FindBestMove: inAnalyses,
  StreamEvaluate: inAnalyses,
  // A review has no options, but its variant can be one that the engine does not play.
  ReviewGame: [...inAnalyses.filter((code) => code !== "option_not_allowed"), "invalid_pgn"],
  // The answer to each request of the batch has the errors of that request.
  EvaluateBatch: counted,
  CreateKey: ["self_service_disabled"],
  GetKey: ["api_key_required"],
  RevokeKey: ["api_key_required"],
};

/** True if the calls of a route are counted, so that their answers report the state of the caller's rate limits. */
export function isCounted({ method }: Pick<Route, "method">): boolean {
  return byMethod[method.name]?.includes("upgrade_needed") ?? false;
}

export function needsKey({ method }: Pick<Route, "method">): boolean {
  return !isCounted({ method }) && (byMethod[method.name]?.includes("api_key_required") ?? false);
}
