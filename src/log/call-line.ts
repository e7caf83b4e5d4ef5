import { contextOf, type RequestContext } from "../request/context.ts";
import { outcomeOf } from "../request/outcome.ts";
import { echo } from "../text/plain-text.ts";
import type { Log, LogFields } from "./log.ts";

/** How a call ended. */
export interface CallEnd {
  readonly code: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** That the caller is known by. */
  readonly address: string;
  /** What else there is to say of it. */
  readonly fields: LogFields;
}

/** Writes the one line of a call, whether or not it got as far as an answer. */
export type CallLine = (request: RequestContext, end: CallEnd) => void;

export function createCallLine(
  log: Log,
  showAddress: (address: string) => string | undefined,
  level: "info" | "debug" = "info",
): CallLine {
  return ({ id: requestId, protocol, traceparent }, { code, startedAt, address, fields }) => {
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const shown = showAddress(address);
    const line = {
      requestId,
      protocol,
      ...fields,
      ms,
      code,
      ...(shown !== undefined && { address: shown }),
      ...spanOf(traceparent),
    };
    log[code === "internal" ? "error" : level](line, "call");
  };
}

/**
 * Gives a request that was refused before it became a call the line that every call has. To be told of every request
 * when its answer has ended.
 *
 * @param addressOf the address that a caller is known by
 */
export function createRefusalLog(
  write: CallLine,
  addressOf: (request: RequestContext) => string,
): (req: { readonly method?: string | undefined }, startedAt: number) => void {
  return (req, startedAt) => {
    const { code, hasLine } = outcomeOf(req);
    if (hasLine || code === undefined) {
      return;
    }
    const request = contextOf(req);
    const fields = { method: req.method ?? "", request: echo(request.path) };
    write(request, { code, startedAt, address: addressOf(request), fields });
  };
}

/** The call's span, by the names that log collectors look for. */
function spanOf(traceparent: string | undefined): { readonly trace_id?: string; readonly span_id?: string } {
  const [, trace_id, span_id] = traceparent?.split("-") ?? [];
  return trace_id === undefined || span_id === undefined ? {} : { trace_id, span_id };
}
