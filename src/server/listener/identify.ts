import { randomBytes } from "node:crypto";
import { requestIdFrom } from "../../caller.ts";
import type { NodeRequest, NodeResponse } from "../node-message.ts";

/**
 * Gives a request its id and, if its sender traces, its own span of that trace. Afterwards both stand in the
 * request's headers `x-request-id` and `traceparent`, whoever reads them; the span is in the answer already.
 */
export function identify(req: NodeRequest, res: NodeResponse): void {
  const { headers } = req;
  headers["x-request-id"] = requestIdFrom(headers["x-request-id"]);
  if (headers.traceparent === undefined) {
    return;
  }
  const span = spanBelow(headers.traceparent);
  if (span === undefined) {
    // W3C Trace Context: what cannot be read is ignored, and a trace of our own would be of no use to anybody.
    delete headers.traceparent;
  } else {
    headers.traceparent = span;
    res.setHeader("traceparent", span);
  }
}

const pattern = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-([\da-f]{2})(-.*)?$/;

/** A new span below the one that a `traceparent` header names, as such a header. */
export function spanBelow(traceparent: string | readonly string[]): string | undefined {
  const [, version, traceId, flags, more] = pattern.exec(String(traceparent)) ?? [];
  // Later versions may add fields, and are read as far as this one knows them.
  if (traceId === undefined || (version === "00" && more !== undefined)) {
    return undefined;
  }
  // Of the flags one is known: that the caller records the trace. The others have to be zero.
  const sampled = Number.parseInt(flags ?? "", 16) & 1;
  return `00-${traceId}-${randomBytes(8).toString("hex")}-0${sampled}`;
}
