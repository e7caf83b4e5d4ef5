/** The client's next step after an error, for programs that cannot read the English message. */
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
  | "contact_operator"
  | "send_to_eval";

type RpcCode =
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

interface Consequences {
  readonly rpc: RpcCode;
  readonly nextAction: NextAction;
}

const consequences = {
  400: { rpc: "invalid_argument", nextAction: "fix_request" },
  401: { rpc: "unauthenticated", nextAction: "get_api_key" },
  402: { rpc: "permission_denied", nextAction: "send_suggested_request" },
  403: { rpc: "permission_denied", nextAction: "contact_operator" },
  404: { rpc: "not_found", nextAction: "fix_request" },
  405: { rpc: "unimplemented", nextAction: "fix_request" },
  406: { rpc: "invalid_argument", nextAction: "fix_request" },
  408: { rpc: "deadline_exceeded", nextAction: "fix_request" },
  413: { rpc: "resource_exhausted", nextAction: "fix_request" },
  414: { rpc: "invalid_argument", nextAction: "fix_request" },
  415: { rpc: "invalid_argument", nextAction: "fix_request" },
  429: { rpc: "resource_exhausted", nextAction: "retry_later" },
  431: { rpc: "invalid_argument", nextAction: "fix_request" },
  500: { rpc: "internal", nextAction: "retry_now" },
  501: { rpc: "unimplemented", nextAction: "fix_request" },
  503: { rpc: "unavailable", nextAction: "retry_later" },
  504: { rpc: "deadline_exceeded", nextAction: "reduce_limits" },
} as const satisfies Record<number, Consequences>;

interface ErrorKind extends Consequences {
  readonly status: keyof typeof consequences;
  readonly title: string;
  /** The text of the web page about the error. */
  readonly about: string;
}

/** If a field is missing, {@link consequences} has the default for the status. A missing title is derived from the code. */
type Entry = Pick<ErrorKind, "status" | "about"> & Partial<ErrorKind>;

const catalog = {
  malformed_json: {
    status: 400,
    about: "The body is not a single JSON value in UTF-8, or has a duplicate key. Send a JSON object.",
  },
  unknown_field: {
    status: 400,
    about:
      "The request has a field that this call does not have. Names are snake_case; check the spelling. POST calls read the JSON body, not the query string.",
  },
  out_of_range: {
    status: 400,
    about: "A value is outside its bounds. The violation names the field and what is allowed.",
  },
  invalid_type: {
    status: 400,
    about:
      "A value has the wrong type for its field: integers are JSON numbers without a fraction, never strings.",
  },
  invalid_fen: {
    status: 400,
    about:
      "The text is not a FEN. A FEN has six fields separated by spaces: board, side to move, castling, en passant, half-move clock, full-move number.",
  },
  illegal_position: {
    status: 400,
    about: "The FEN is well-formed, but no engine can search the position: the violation says why.",
  },
  illegal_move: {
    status: 400,
    about:
      "One of the moves is not legal when it is played. Moves are UCI (e2e4) or SAN (Nf3), played one after another from the FEN.",
  },
  invalid_pgn: {
    status: 400,
    about:
      "The request has no game or several, or the text is not surely the game that was meant: what PGN does not have is refused and never skipped. The violation says where, by ply, token, offset, line and column.",
  },
  invalid_option: {
    status: 400,
    about:
      "An engine option has the wrong type, is out of bounds, or contradicts another. GET /engines shows each engine's options_schema.",
  },
  option_not_allowed: {
    status: 400,
    about:
      "The engine has no such option, or it cannot be set by callers. GET /engines shows each engine's options_schema.",
  },
  unknown_engine: {
    status: 400,
    nextAction: "list_engines",
    about: "No engine has this id. GET /engines lists the ids; `latest` always works.",
  },
  path_unavailable: {
    status: 400,
    rpc: "failed_precondition",
    nextAction: "use_auto_path",
    about: "The chosen engine version cannot run on the requested path here. Omit path, or send `auto`.",
  },
  invalid_api_key: {
    status: 401,
    nextAction: "check_api_key",
    about:
      "The Authorization header does not carry a key that is valid here. Correct it, or omit the header.",
  },
  api_key_required: {
    status: 401,
    about: "This call requires an API key. Send it as Authorization: Bearer kbz_…",
  },
  upgrade_needed: {
    status: 402,
    about:
      "The request exceeds what the caller's plan allows. Where possible, the problem carries a request that the plan allows, and names the plan that allows more.",
  },
  self_service_disabled: {
    status: 403,
    title: "Self-service disabled",
    about:
      "This service does not issue keys on request, or has issued as many as it may. Ask its operator for one.",
  },
  origin_not_allowed: {
    status: 403,
    about:
      "A web page of another origin has asked, and the operator has not named that origin in KIBITZ_CORS_ORIGINS; `*` there does not count for this path. Programs send no header Origin.",
  },
  host_not_allowed: {
    status: 403,
    about: "The service answers here to some names only; its operator adds to them in KIBITZ_ALLOWED_HOSTS.",
  },
  malformed_http: {
    status: 400,
    about: "The request violates HTTP or the RPC protocol it uses, and was not processed.",
  },
  not_found: {
    status: 404,
    about:
      "There is nothing at this path. The analysis calls are POST /v1/eval, /v1/eval/stream, /v1/eval/batch, /v1/review and /v1/bestmove.",
  },
  not_in_tablebase: {
    status: 404,
    nextAction: "send_to_eval",
    about:
      "The endgame tables of this service do not know the position: it has too many men or castling rights, or its table is missing or damaged. POST /v1/eval evaluates the position. GET /engines shows which tables there are.",
  },
  method_not_allowed: {
    status: 405,
    about: "The path exists, but does not support this method. The Allow header lists those it does.",
  },
  not_acceptable: {
    status: 406,
    about: "The Accept header excludes every format that this call can send.",
  },
  request_timeout: {
    status: 408,
    about: "The request did not arrive in time. Send it in one go.",
  },
  body_too_large: {
    status: 413,
    about:
      "The body is larger than this call accepts: 64 KiB for an analysis, 512 KiB for a review, 1 MiB for a batch (256 KiB over gRPC and Connect) or 4 KiB for anything else, after decompression.",
  },
  uri_too_long: {
    status: 414,
    about: "The request target is too long. Send a POST with a body.",
  },
  unsupported_media_type: {
    status: 415,
    about:
      "This call does not accept the body's media type or encoding. Add the header Content-Type: application/json.",
  },
  headers_too_large: {
    status: 431,
    about: "The request headers are larger than 16 KiB.",
  },
  unimplemented: {
    status: 501,
    title: "Not implemented",
    about:
      "No service here has this method, or this version of Kibitz declares it but does not implement it yet. Check the service and method names.",
  },
  rate_limited: {
    status: 429,
    about:
      "Too many requests in this window, or too many that were wrong or beyond the plan. Retry-After says exactly when the next one is accepted.",
  },
  quota_exhausted: {
    status: 429,
    about: "The engine time of this window is used up. Retry-After says exactly when more is available.",
  },
  concurrency_limited: {
    status: 429,
    about: "The caller has too many searches or calls under way. Wait for one of them to end.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    about: "Something failed inside the service. The operator can find it in the log by its request id.",
  },
  overloaded: {
    status: 503,
    about:
      "There is more work than the machine can handle, or two engines failed in one search. Retry-After estimates when to try again.",
  },
  starting: {
    status: 503,
    about:
      "The engine is being started, or an endgame table is being verified. Retry-After estimates when it will be ready.",
  },
  shutting_down: {
    status: 503,
    about:
      "This server is stopping and accepts no new work. Another instance, or the next one started here, will answer.",
  },
  store_unavailable: {
    status: 503,
    about:
      "The service cannot use its database: the disk is full, or another process has locked the database. Analyses without a key continue; keys can be looked up, issued and revoked again once it is available.",
  },
  deadline_exceeded: {
    status: 504,
    about:
      "The caller's deadline passed before the search ended. Ask for a lower depth or a shorter movetime, or allow more time.",
  },
  engine_timeout: {
    status: 504,
    about: "The engine did not end its search in time. Ask for less, or use another engine.",
  },
} as const satisfies Record<string, Entry>;

/** Clients see this code as `code` in a problem document, and in upper case as `reason` in an ErrorInfo. */
export type ErrorCode = keyof typeof catalog;

export const errorCodes = Object.keys(catalog) as readonly ErrorCode[];

/** `wrong`: the request is invalid or exceeds the plan. `early`: the client must wait. `other`: a wrong key, or a failure. */
export function refusalKind(code: ErrorCode): "wrong" | "early" | "other" {
  const { status } = errorKind(code);
  if (status === 429) {
    return "early";
  }
  // 501 is also a mistake of the client: an unknown method or an unknown transfer coding.
  // A position that no table knows is no mistake of the client, because the client cannot know the tables.
  const isMistake =
    code === "unimplemented" ||
    (status >= 400 && status < 500 && status !== 401 && code !== "not_in_tablebase");
  return isMistake ? "wrong" : "other";
}

/** True if the same request can succeed later. */
export function isRetried(action: NextAction): boolean {
  return action === "retry_later" || action === "retry_now";
}

export function errorKind(code: ErrorCode): ErrorKind {
  const kind = catalog[code];
  return { ...consequences[kind.status], title: titleOf(code), ...kind };
}

function titleOf(code: ErrorCode): string {
  const words = code
    .replaceAll("_", " ")
    .replace(/\b(json|fen|pgn|api|http|uri)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
