import type { ServerResponse } from "node:http";
import { isGone, type NodeResponse, writePart } from "../../http/message.ts";
import type { RequestOutcome } from "../../request/context.ts";

/** Sends a response of the Fetch API: at once, or in parts as they come, waiting for a slow reader. */
export async function sendResponse(
  res: NodeResponse,
  { status, headers, body }: Response,
  { answerHeaders }: RequestOutcome,
): Promise<void> {
  if (isGone(res)) {
    await body?.cancel();
    return;
  }
  res.statusCode = status;
  for (const [name, value] of [...headers, ...answerHeaders]) {
    // HTTP/2 has no such header, and Node answers HTTP/1.1 with it by itself.
    if (name !== "connection") {
      res.setHeader(name, value);
    }
  }
  res.setHeader("Cache-Control", "no-store");
  for await (const part of body ?? []) {
    if (!(await writePart(res, part))) {
      return;
    }
  }
  if (!isGone(res)) {
    (res as ServerResponse).end();
  }
}
