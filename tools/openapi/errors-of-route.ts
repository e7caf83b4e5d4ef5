import type { ErrorCode } from "../../src/errors/catalogue.ts";
import type { Route } from "../../src/protocols/json/routes.ts";

/**
 * Which errors a call by plain JSON can end with. The catalogue says what errors there are; which call meets which is
 * code all over the house, so it stands here, once, and the tests hold it against the running service.
 */
export function errorsOfRoute(route: Route): readonly ErrorCode[] {
  const { method, body } = route;
  return [
    ...everywhere,
    ...(body ? inBodies : []),
    ...(!body && method.input.fields.length > 0 ? inValues : []),
    ...(byMethod[method.name] ?? []),
  ];
}

/** Met by whoever sends HTTP: a credential that is there is always checked, and a field in the query never overlooked. */
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

/** What counts needs a key where the operator says so. */
const counted: readonly ErrorCode[] = ["api_key_required", "upgrade_needed"];

/** Not `deadline_exceeded`: callers of plain JSON leave when they have waited enough. */
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
  // It has no options; a variant that its engine does not play is one all the same.
  ReviewGame: [...inAnalyses.filter((code) => code !== "option_not_allowed"), "invalid_pgn"],
  // What is wrong with one request is told in the answer to that one.
  EvaluateBatch: counted,
  CreateKey: ["self_service_disabled"],
  GetKey: ["api_key_required"],
  RevokeKey: ["api_key_required"],
};

/** Whether calls count, so that their answers tell how the caller's windows stand. */
export function isCounted({ method }: Pick<Route, "method">): boolean {
  return byMethod[method.name]?.includes("upgrade_needed") ?? false;
}

/** Whether nobody is answered without a key, whatever the operator allows. */
export function needsKey({ method }: Pick<Route, "method">): boolean {
  return !isCounted({ method }) && (byMethod[method.name]?.includes("api_key_required") ?? false);
}
