import { createHmac, randomBytes } from "node:crypto";
import type { RequestContext } from "../request/context.ts";
import { outsideRequests } from "../request/owner.ts";
import { after, now } from "../time/time.ts";
import type { Log, LogFields } from "./log.ts";

export interface CallEnd {
  readonly code: string;
  /** By `now()`. */
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly address: string;
  readonly fields: CallFields;
}

export type CallFields = Pick<
  LogFields,
  "method" | "request" | "key" | "limit" | "engine" | "depth" | "cached" | "queueMs" | "engineMs" | "err"
>;

/**
 * - `truncated`: the network, such as 203.0.113.0/24 or 2001:db8:7::/48
 * - `hashed`: the same hash for a caller during one day
 */
type AddressForm = "none" | "truncated" | "hashed" | "full";

/** Writes the log line of a call. */
export type CallLine = (request: RequestContext, end: CallEnd) => void;

export function createCallLine(
  log: Log,
  addresses: AddressForm,
  level: "info" | "debug" = "info",
  refusalLinesMax = usualRefusalLinesMax,
): CallLine {
  const showAddress = createAddressShower(addresses);
  const hasLine = createRefusalSummary(log, refusalLinesMax);
  return ({ id: requestId, protocol, traceparent }, { code, startedAt, endedAt, address, fields }) => {
    const ms = Math.round(((endedAt ?? now()) - startedAt) * 10) / 10;
    const [, trace_id, span_id] = traceparent?.split("-") ?? [];
    const line = {
      requestId,
      protocol,
      ...fields,
      ms,
      code,
      address: showAddress(address),
      trace_id,
      span_id,
    };
    if (hasLine(code)) {
      log[code === "internal" ? "error" : level](line, "call");
    }
  };
}

/** Further refused calls of a second are summed up, because a flood of refusals wrote 3.6 MB of lines a second. */
const usualRefusalLinesMax = 100;

/** Returns a function that returns true if a call gets a line of its own. Every second, logs how many refused calls got none. */
function createRefusalSummary(log: Log, linesMax: number): (code: string) => boolean {
  let lines = 0;
  const unlogged = new Map<string, number>();
  let isTiming = false;

  function sumUp(): void {
    isTiming = false;
    lines = 0;
    if (unlogged.size > 0) {
      const count = [...unlogged.values()].reduce((sum, one) => sum + one, 0);
      log.info({ count, codes: Object.fromEntries(unlogged) }, "refused calls without a line of their own");
      unlogged.clear();
    }
  }

  return (code) => {
    if (code === "ok" || code === "canceled" || code === "internal") {
      return true;
    }
    if (!isTiming) {
      isTiming = true;
      outsideRequests(() => after(1000, sumUp).unref());
    }
    if (lines < linesMax) {
      lines++;
      return true;
    }
    unlogged.set(code, (unlogged.get(code) ?? 0) + 1);
    return false;
  };
}

const dayMs = 86_400_000;

export function createAddressShower(form: AddressForm, clock = now): (address: string) => string | undefined {
  switch (form) {
    case "none":
      return () => undefined;
    case "truncated":
      return truncated;
    case "hashed": {
      let secret = { day: -1, bytes: randomBytes(32) };
      return (address) => {
        const day = Math.floor(clock() / dayMs);
        if (day !== secret.day) {
          secret = { day, bytes: randomBytes(32) };
        }
        return createHmac("sha256", secret.bytes).update(address).digest("hex").slice(0, 16);
      };
    }
    case "full":
      return (address) => address;
  }
}

function truncated(address: string): string {
  if (address.includes(":")) {
    return `${address.split(":", 3).join(":")}::/48`;
  }
  return address.includes(".") ? `${address.split(".", 3).join(".")}.0/24` : address;
}
