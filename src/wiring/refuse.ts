import type { Access } from "../access/access.ts";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import type { Full } from "../http/listener/calls-under-way.ts";
import type { NodeRequest, NodeResponse } from "../http/message.ts";
import { sendProblem } from "../http/send-problem.ts";
import { connectErrorFrom } from "../protocols/connect/errors.ts";
import { refuseCall, refuseUnknownCall } from "../protocols/connect/refuse-call.ts";
import { contextOf } from "../request/context.ts";

/** Answers with an error in the protocol of the caller. */
export function refuse(error: KibitzError, req: NodeRequest, res: NodeResponse): true {
  if (!refuseCall(req, res, error, connectErrorFrom)) {
    sendProblem(req, res, error);
  }
  return true;
}

/** Tells RPC clients that there is no such call; the rest is nobody's. */
export function refuseUnknown(req: NodeRequest, res: NodeResponse): boolean {
  return refuseUnknownCall(req, res, connectErrorFrom);
}

/** What a call is refused for because so many are under way. */
export function noRoom(full: Full): KibitzError {
  const soon = { retryAfterMs: 1000 };
  return full === "caller"
    ? new KibitzError(
        "concurrency_limited",
        "Your address has reached its maximum of connections or calls in flight. Wait until one of them ends.",
        soon,
      )
    : new KibitzError(
        "overloaded",
        "This server has reached its maximum of calls in flight. Retry later.",
        soon,
      );
}

/** What is no call needs no key, but a credential that is sent with it is checked as everywhere. */
export async function checkCredential(access: Access, req: NodeRequest, res: NodeResponse): Promise<boolean> {
  try {
    await access.accountOf(contextOf(req));
    return false;
  } catch (thrown) {
    return refuse(errorFromUnknown(thrown), req, res);
  }
}
