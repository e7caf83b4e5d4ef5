import { type ErrorCode, errorKind, type NextAction } from "../errors.ts";
import { problemTypeOf } from "../problem.ts";

/** What the catalogue says of an error code, for readers who have met one. */
export interface Explanation {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly about: string;
  readonly next_action: NextAction;
  readonly next_action_about: string;
  readonly grpc_code: string;
}

export function explainProblem(code: ErrorCode): Explanation {
  const { title, status, about, nextAction, rpc } = errorKind(code);
  return {
    type: problemTypeOf(code),
    title,
    status,
    code,
    about,
    next_action: nextAction,
    next_action_about: nextActions[nextAction],
    grpc_code: rpc,
  };
}

const nextActions: Readonly<Record<NextAction, string>> = {
  fix_request: "Change the request: sent again as it is, it fails again.",
  send_suggested_request:
    "Send what stands in suggested_request: it is answered. Errors of gRPC and Connect carry it in the Problem among their details.",
  list_engines: "Ask GET /engines, and send one of its ids.",
  use_auto_path: "Leave path out, or send auto.",
  get_api_key: "Get an API key and send it as Authorization: Bearer kbz_…",
  check_api_key: "Check the API key in the Authorization header, or leave the header out.",
  reduce_limits: "Ask for less depth, fewer lines or less time.",
  retry_now: "Send the same request again.",
  retry_later: "Send the same request again, after the time in Retry-After.",
  contact_operator: "Ask the operator of this service.",
};
