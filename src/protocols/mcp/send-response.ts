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
  for (const [name, value] of headers) {
    // HTTP/2 has no such header, and Node answers HTTP/1.1 with it by itself.
    if (name !== "connection") {
      res.setHeader(name, value);
    }
  }
  res.setHeader("Cache-Control", "no-store");
  /** Not before the first part: the SDK returns a stream at once, and its call sets the RateLimit fields later. */
  const completeHeaders = () => {
    for (const [name, value] of res.headersSent ? [] : answerHeaders) {
      res.setHeader(name, value);
    }
  };
  for await (const part of body ?? []) {
    completeHeaders();
    if (!(await writePart(res, part))) {
      return;
    }
  }
  if (!isGone(res)) {
    completeHeaders();
    (res as ServerResponse).end();
  }
}
