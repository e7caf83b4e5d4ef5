import type { CallEnd, CallLine } from "../log/call-line.ts";
import type { Meter } from "../metrics/meter.ts";
import { contextOf, outcomeOf, type RequestContext } from "../request/context.ts";
import { echo } from "../text/echo.ts";
import { now } from "../time/time.ts";
import { traceCallEnd } from "../tracing/server-span.ts";

/** Call this once for each request, even if the request is rejected before its body is read. */
export type ReportCall = (request: RequestContext, end: CallEnd) => void;

/** Logs and counts a call, and adds its result to its span. One function does all three, so that no protocol omits a case. */
export function createReportCall(writeLine: CallLine, meter?: Pick<Meter, "call">): ReportCall {
  return (request, end) => {
    const { code, startedAt, endedAt = now(), fields } = end;
    writeLine(request, { ...end, endedAt });
    const { protocol, traceparent } = request;
    const method = fields.request === undefined ? fields.method : undefined;
    const seconds = (endedAt - startedAt) / 1000;
    meter?.call({ protocol, method, code, limit: fields.limit, seconds, traceparent });
    traceCallEnd(request, end);
  };
}

/** Reports requests that are rejected before an RPC method is called. Call the returned function after each response. */
export function createRefusalReport(
  report: ReportCall,
  addressOf: (request: RequestContext) => string,
): (req: { readonly method?: string | undefined }, startedAt: number) => void {
  return (req, startedAt) => {
    const { code, limit, hasLine, answeredAt: endedAt } = outcomeOf(req);
    if (hasLine || code === undefined) {
      return;
    }
    const request = contextOf(req);
    const fields = { method: req.method ?? "", request: echo(request.path), limit };
    report(request, { code, startedAt, endedAt, address: addressOf(request), fields });
  };
}
