import { withoutKeys } from "./plain-text.ts";

/**
 * Every error that a caller can meet, once. The doors only translate: `problem.ts` into
 * `application/problem+json`, `rpc/connect-error.ts` into Connect and gRPC errors.
 */

/** What a client should do about an error, so that programs need not read English. */
export type NextAction =
  | "fix_request"
  | "send_suggested_request"
  | "list_engines"
  | "use_auto_path"
  | "get_api_key"
  | "check_api_key"
  | "reduce_limits"
  | "retry_now"
  | "retry_later"
  | "contact_operator";

/** Connect and gRPC status codes, as words. */
export type RpcCode =
  | "invalid_argument"
  | "deadline_exceeded"
  | "not_found"
  | "permission_denied"
  | "resource_exhausted"
  | "failed_precondition"
  | "unimplemented"
  | "internal"
  | "unavailable"
  | "unauthenticated";

interface ErrorKind {
  readonly status: number;
  readonly rpc: RpcCode;
  readonly nextAction: NextAction;
  readonly title: string;
  /** For the page behind the problem's `type` URL: what it means and what to do. */
  readonly about: string;
}

const kind = (
  status: number,
  rpc: RpcCode,
  nextAction: NextAction,
  title: string,
  about: string,
): ErrorKind => ({
  status,
  rpc,
  nextAction,
  title,
  about,
});

const catalogue = {
  malformed_json: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Malformed JSON",
    "The body is not a single JSON value in UTF-8, or has a duplicate key. Send a JSON object.",
  ),
  unknown_field: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Unknown field",
    "The request has a field that this call does not have. Names are snake_case; check the spelling. POST calls read the JSON body, not the query string.",
  ),
  out_of_range: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Out of range",
    "A value is outside its bounds. The fault names the field and what is allowed.",
  ),
  invalid_type: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Invalid type",
    "A value has the wrong type for its field: integers are JSON numbers without a fraction, never strings.",
  ),
  invalid_fen: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Invalid FEN",
    "The text is not a FEN. A FEN has six fields separated by spaces: board, side to move, castling, en passant, half-move clock, full-move number.",
  ),
  illegal_position: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Illegal position",
    "The FEN is well-formed, but no engine can search the position: the fault says why.",
  ),
  illegal_move: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Illegal move",
    "One of the moves is not legal when it is played. Moves are UCI (e2e4) or SAN (Nf3), played one after another from the FEN.",
  ),
  invalid_option: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Invalid option",
    "An engine option has the wrong type, is out of bounds, or contradicts another. GET /engines shows each engine's options_schema.",
  ),
  option_not_allowed: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Option not allowed",
    "The engine has no such option, or it cannot be set by callers. GET /engines shows each engine's options_schema.",
  ),
  unknown_engine: kind(
    400,
    "invalid_argument",
    "list_engines",
    "Unknown engine",
    "No engine has this id. GET /engines lists the ids; `latest` always works.",
  ),
  path_unavailable: kind(
    400,
    "failed_precondition",
    "use_auto_path",
    "Path unavailable",
    "The chosen engine version cannot run on the requested path here. Omit path, or send `auto`.",
  ),
  invalid_api_key: kind(
    401,
    "unauthenticated",
    "check_api_key",
    "Invalid API key",
    "The Authorization header does not carry a key that is valid here. Correct it, or omit the header.",
  ),
  api_key_required: kind(
    401,
    "unauthenticated",
    "get_api_key",
    "API key required",
    "This call requires an API key. Send it as Authorization: Bearer kbz_…",
  ),
  upgrade_needed: kind(
    402,
    "permission_denied",
    "send_suggested_request",
    "Upgrade needed",
    "The request exceeds what the caller's plan allows. Where possible, the problem carries a request that the plan allows, and names the plan that allows more.",
  ),
  self_service_disabled: kind(
    403,
    "permission_denied",
    "contact_operator",
    "Self-service disabled",
    "This service does not issue keys on request. Ask its operator for one.",
  ),
  malformed_http: kind(
    400,
    "invalid_argument",
    "fix_request",
    "Malformed HTTP",
    "The request violates HTTP or the RPC protocol it uses, and was not processed.",
  ),
  not_found: kind(
    404,
    "not_found",
    "fix_request",
    "Not found",
    "There is nothing at this path. The analysis calls are POST /v1/eval, /v1/eval/stream, /v1/eval/batch and /v1/bestmove.",
  ),
  method_not_allowed: kind(
    405,
    "unimplemented",
    "fix_request",
    "Method not allowed",
    "The path exists, but does not support this method. The Allow header lists those it does.",
  ),
  not_acceptable: kind(
    406,
    "invalid_argument",
    "fix_request",
    "Not acceptable",
    "The Accept header excludes every format that this call can send.",
  ),
  request_timeout: kind(
    408,
    "deadline_exceeded",
    "fix_request",
    "Request timeout",
    "The request did not arrive in time. Send it in one go.",
  ),
  body_too_large: kind(
    413,
    "resource_exhausted",
    "fix_request",
    "Body too large",
    "The body is larger than this call accepts: 64 KiB, or 1 MiB for a batch, after decompression.",
  ),
  uri_too_long: kind(
    414,
    "invalid_argument",
    "fix_request",
    "URI too long",
    "The request target is too long. Send a POST with a body.",
  ),
  unsupported_media_type: kind(
    415,
    "invalid_argument",
    "fix_request",
    "Unsupported media type",
    "This call does not accept the body's media type or encoding. Add the header Content-Type: application/json.",
  ),
  headers_too_large: kind(
    431,
    "invalid_argument",
    "fix_request",
    "Headers too large",
    "The request headers are larger than 16 KiB.",
  ),
  unimplemented: kind(
    501,
    "unimplemented",
    "fix_request",
    "Not implemented",
    "No service here has this method, or this version of Kibitz declares it but does not implement it yet. Check the service and method names.",
  ),
  rate_limited: kind(
    429,
    "resource_exhausted",
    "retry_later",
    "Rate limited",
    "Too many requests in this window. Retry-After says exactly when the next one is accepted.",
  ),
  quota_exhausted: kind(
    429,
    "resource_exhausted",
    "retry_later",
    "Quota exhausted",
    "The engine time of this window is used up. Retry-After says exactly when more is available.",
  ),
  concurrency_limited: kind(
    429,
    "resource_exhausted",
    "retry_later",
    "Concurrency limited",
    "The caller has too many searches running. Wait for one of them to end.",
  ),
  internal: kind(
    500,
    "internal",
    "retry_now",
    "Internal error",
    "Something failed inside the service. The operator can find it in the log by its request id.",
  ),
  overloaded: kind(
    503,
    "unavailable",
    "retry_later",
    "Overloaded",
    "There is more work than the machine can handle. Retry-After estimates when there will be room.",
  ),
  starting: kind(
    503,
    "unavailable",
    "retry_later",
    "Starting",
    "The engine is being started. Retry-After estimates when it will be ready.",
  ),
  shutting_down: kind(
    503,
    "unavailable",
    "retry_later",
    "Shutting down",
    "This server is stopping and accepts no new work. Another instance, or the next one started here, will answer.",
  ),
  store_unavailable: kind(
    503,
    "unavailable",
    "retry_later",
    "Store unavailable",
    "The service cannot use its database: the disk is full, or another process has locked the database. Analyses without a key continue; keys can be looked up, issued and revoked again once it is available.",
  ),
  deadline_exceeded: kind(
    504,
    "deadline_exceeded",
    "reduce_limits",
    "Deadline exceeded",
    "The caller's deadline passed before the search ended. Ask for a lower depth or a shorter movetime, or allow more time.",
  ),
  engine_timeout: kind(
    504,
    "deadline_exceeded",
    "reduce_limits",
    "Engine timeout",
    "The engine did not end its search in time and was replaced. Ask for less, or use another engine.",
  ),
} as const satisfies Record<string, ErrorKind>;

/** A stable error code: the `code` of a problem document, the `reason` of an ErrorInfo (in upper case). */
export type ErrorCode = keyof typeof catalogue;

/** All codes, in the order of the catalogue. */
export const errorCodes = Object.keys(catalogue) as readonly ErrorCode[];

/** What the catalogue says of a code. */
export function errorKind(code: ErrorCode): ErrorKind {
  return catalogue[code];
}

/** One thing that is wrong with a request. */
export interface Fault {
  /** JSON Pointer (RFC 6901) to the value; a missing field has the pointer it would have. */
  readonly pointer: string;
  /** `over_plan_limit` stands in errors that are `upgrade_needed`. */
  readonly code: ErrorCode | "over_plan_limit";
  readonly message: string;
  /** What is allowed instead, as a JSON Schema fragment. */
  readonly allowed?: Readonly<Record<string, unknown>>;
}

/** Most faults that one error reports. */
export const faultsMax = 20;

interface KibitzErrorOptions {
  readonly faults?: readonly Fault[];
  /** Where the catalogue's action is not the best one. */
  readonly nextAction?: NextAction;
  /** When the caller may come back, in milliseconds. */
  readonly retryAfterMs?: number;
  /** A request, as plain JSON, that would be answered. */
  readonly suggestedRequest?: Readonly<Record<string, unknown>>;
  readonly upgrade?: { readonly plan: string; readonly url: string };
  /** Which limit of which plan is exceeded: `keyless/minute`. */
  readonly quota?: string;
  /** The underlying error: for the log, never for the caller. */
  readonly cause?: unknown;
}

/** The one error that is thrown on purpose. Everything else that is thrown becomes `internal`. */
export class KibitzError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];
  readonly nextAction: NextAction;
  readonly retryAfterMs: number | undefined;
  readonly suggestedRequest: Readonly<Record<string, unknown>> | undefined;
  readonly upgrade: { readonly plan: string; readonly url: string } | undefined;
  readonly quota: string | undefined;

  constructor(code: ErrorCode, detail: string, options: KibitzErrorOptions = {}) {
    super(withoutKeys(detail), options.cause === undefined ? {} : { cause: options.cause });
    this.name = "KibitzError";
    this.code = code;
    this.faults = (options.faults ?? []).slice(0, faultsMax).map(withoutKeysIn);
    this.nextAction =
      options.nextAction ??
      (options.suggestedRequest ? "send_suggested_request" : catalogue[code].nextAction);
    this.retryAfterMs = options.retryAfterMs;
    this.suggestedRequest = options.suggestedRequest;
    this.upgrade = options.upgrade;
    this.quota = options.quota;
  }

  /** Whether the same request can succeed later. */
  get retryable(): boolean {
    return this.nextAction === "retry_later" || this.nextAction === "retry_now";
  }
}

/** The error for a request with faults. The first fault gives the code; `faults` must not be empty. */
export function errorFromFaults(
  faults: readonly Fault[],
  options: Omit<KibitzErrorOptions, "faults"> = {},
): KibitzError {
  const [first] = faults;
  if (first === undefined || first.code === "over_plan_limit") {
    throw new TypeError("errorFromFaults needs a fault that has an error of its own");
  }
  const others = faults.length - 1;
  // Whoever looks for faults stops looking at so many.
  const count = faults.length < faultsMax ? `are ${others}` : `are at least ${faultsMax - 1}`;
  const more = others === 0 ? "" : others === 1 ? " There is 1 more fault." : ` There ${count} more faults.`;
  return new KibitzError(first.code, `${first.message}${more}`, { ...options, faults });
}

/** Any thrown value as a KibitzError: what was not thrown on purpose becomes `internal`, with the original as its cause. */
export function errorFromUnknown(thrown: unknown): KibitzError {
  return thrown instanceof KibitzError
    ? thrown
    : new KibitzError("internal", "Something failed inside the service.", { cause: thrown });
}

function withoutKeysIn(fault: Fault): Fault {
  return { ...fault, pointer: withoutKeys(fault.pointer), message: withoutKeys(fault.message) };
}
