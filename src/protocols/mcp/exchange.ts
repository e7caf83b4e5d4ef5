import type { ServerResponse } from "node:http";
import { isGone, type NodeRequest, type NodeResponse, writePart } from "../../http/message.ts";
import type { RequestOutcome } from "../../request/context.ts";

/** The headers that the SDK needs. It sees no others, above all no key. */
const passed = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"] as const;

/** A request in the form that the SDK reads, without its body. */
export function webRequest({ headers }: NodeRequest, path: string, signal: AbortSignal): Request {
  const shown = new Headers();
  for (const name of passed) {
    const value = headers[name];
    if (value !== undefined) {
      shown.set(name, Array.isArray(value) ? value.join(", ") : value);
    }
  }
  return new Request(`http://localhost${path}`, { method: "POST", headers: shown, signal });
}

/** Sends the response of the SDK: at once, or in parts as they come, waiting for a slow reader. */
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
  const all = new Headers(headers);
  all.set("cache-control", "no-store");
  if (headers.get("content-type")?.startsWith("text/event-stream")) {
    // nginx would keep the parts until it has a buffer full.
    all.set("x-accel-buffering", "no");
  }
  // HTTP/2 has no such header, and Node answers HTTP/1.1 with it by itself.
  all.delete("connection");
  for (const [name, value] of [...all, ...answerHeaders]) {
    res.setHeader(name, value);
  }
  if (body) {
    for await (const part of body) {
      if (!(await writePart(res, part))) {
        return;
      }
    }
  }
  if (!isGone(res)) {
    (res as ServerResponse).end();
  }
}
