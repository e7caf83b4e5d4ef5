import type { Access } from "../access/access.ts";
import { errorFromUnknown, type KibitzError } from "../errors/errors.ts";
import type { NodeRequest, NodeResponse } from "../http/message.ts";
import { sendProblem } from "../http/send-problem.ts";
import { refuseCall, unknownMethod } from "../protocols/connect/refuse-call.ts";
import { contextOf } from "../request/context.ts";

/** Answers with an error in the protocol of the caller. */
export function refuse(error: KibitzError, req: NodeRequest, res: NodeResponse): true {
  if (!refuseCall(req, res, error)) {
    sendProblem(req, res, error);
  }
  return true;
}

/** Refuses calls of unknown RPC methods. False for any other request. */
export function refuseUnknown(req: NodeRequest, res: NodeResponse): boolean {
  return refuseCall(req, res, unknownMethod(req));
}

/** Refuses a wrong credential of a request that is no call. Such requests need none. */
export async function checkCredential(access: Access, req: NodeRequest, res: NodeResponse): Promise<boolean> {
  try {
    await access.accountOf(contextOf(req));
    return false;
  } catch (thrown) {
    return refuse(errorFromUnknown(thrown), req, res);
  }
}
