import type { ErrorCode } from "../../src/errors/catalog.ts";
import type { Route } from "../../src/protocols/json/routes.ts";

/** The lists in this file are written by hand. Tests compare the lists with a running service. */
export function errorsOfRoute(route: Route): readonly ErrorCode[] {
  const { method, body } = route;
  return [
    ...everywhere,
    ...(body ? inBodies : []),
    ...(!body && method.input.fields.length > 0 ? inValues : []),
    ...(byMethod[method.name] ?? []),
  ];
}

/** Every call can return these errors. */
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

/** Errors of calls that a plan limits. */
const limited: readonly ErrorCode[] = ["api_key_required", "upgrade_needed"];

const inPositions: readonly ErrorCode[] = ["invalid_fen", "illegal_position"];

/** Errors of calls that need an engine. `deadline_exceeded` is missing, because JSON clients send no deadline. */
const inAnalyses: readonly ErrorCode[] = [
  ...limited,
  ...inPositions,
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
  // Omit `option_not_allowed`, because a review has no engine options.
  ReviewGame: [...inAnalyses.filter((code) => code !== "option_not_allowed"), "invalid_pgn"],
  // Omit the errors of analyses, because a batch returns them in the results of its items.
  EvaluateBatch: limited,
  ProbeTablebase: ["api_key_required", ...inPositions, "not_in_tablebase", "quota_exhausted"],
  CreateKey: ["self_service_disabled"],
  GetKey: ["api_key_required"],
  RevokeKey: ["api_key_required"],
};

/** True if calls count towards the rate limits. The responses then have rate limit headers. */
export function isCounted({ method }: Pick<Route, "method">): boolean {
  const errors = byMethod[method.name] ?? [];
  return errors.includes("upgrade_needed") || errors.includes("quota_exhausted");
}

export function needsKey({ method }: Pick<Route, "method">): boolean {
  return !isCounted({ method }) && (byMethod[method.name]?.includes("api_key_required") ?? false);
}
