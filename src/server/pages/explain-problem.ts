import { type ErrorCode, errorKind, type NextAction } from "../../errors/catalogue.ts";
import { problemTypeOf } from "../../errors/problem.ts";

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
  fix_request: "Change the request: sent again unchanged, it will fail again.",
  send_suggested_request:
    "Send the request in `suggested_request`: it will be answered. Errors of gRPC and Connect carry it in the Problem among their details.",
  list_engines: "Send one of the ids listed by GET /engines.",
  use_auto_path: "Omit path, or send auto.",
  get_api_key: "Get an API key and send it as Authorization: Bearer kbz_…",
  check_api_key: "Check the API key in the Authorization header, or omit the header.",
  reduce_limits: "Ask for a lower depth, fewer lines or less time.",
  retry_now: "Send the same request again.",
  retry_later: "Send the same request again after the time in Retry-After.",
  contact_operator: "Ask the operator of this service.",
};
