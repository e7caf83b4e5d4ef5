import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Meter } from "../metrics/meter.ts";
import { contextOf, outcomeOf, type RequestContext } from "../request/context.ts";
import { echo } from "../text/plain-text.ts";
import type { Log, LogFields } from "./log.ts";

/** How a call ended. */
export interface CallEnd {
  readonly code: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** The same, where it is not now. */
  readonly endedAt?: number | undefined;
  /** That the caller is known by. */
  readonly address: string;
  /** What else there is to say of it. */
  readonly fields: CallFields;
}

/** What a call may say of itself beside how it ended. */
export type CallFields = Pick<
  LogFields,
  "method" | "request" | "key" | "limit" | "engine" | "depth" | "cached" | "queueMs" | "engineMs" | "err"
>;

/** Writes the one line of a call, and counts it, whether or not it got as far as an answer. */
export type CallLine = (request: RequestContext, end: CallEnd) => void;

export function createCallLine(
  log: Log,
  showAddress: (address: string) => string | undefined,
  level: "info" | "debug" = "info",
  meter?: Pick<Meter, "call">,
): CallLine {
  return ({ id: requestId, protocol, traceparent }, { code, startedAt, endedAt, address, fields }) => {
    const exactMs = (endedAt ?? performance.now()) - startedAt;
    const ms = Math.round(exactMs * 10) / 10;
    const { method, request, key, limit, engine, depth, cached, queueMs, engineMs, err } = fields;
    const [, trace_id, span_id] = traceparent?.split("-") ?? [];
    // Name by name: fields behind a spread that stands in the midst are made by V8's runtime. What is undefined is not written.
    const line = {
      requestId,
      protocol,
      method,
      request,
      key,
      limit,
      engine,
      depth,
      cached,
      queueMs,
      engineMs,
      err,
      ms,
      code,
      address: showAddress(address),
      trace_id,
      span_id,
    };
    log[code === "internal" ? "error" : level](line, "call");
    // What has a path was refused before it was a call, and its method is that of HTTP.
    const called = request === undefined ? method : undefined;
    meter?.call({ protocol, method: called, code, limit, seconds: exactMs / 1000, traceparent });
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
    const { code, limit, hasLine, answeredAt: endedAt } = outcomeOf(req);
    if (hasLine || code === undefined) {
      return;
    }
    const request = contextOf(req);
    const fields = { method: req.method ?? "", request: echo(request.path), limit };
    write(request, { code, startedAt, endedAt, address: addressOf(request), fields });
  };
}

/** How much of a caller's address the log may say. */
type AddressForm = "none" | "truncated" | "hashed" | "full";

const dayMs = 86_400_000;

/**
 * Shows an address (IPv4, or IPv6 network) in a form: `truncated` names a network of 256 or more, 203.0.113.0/24 or
 * 2001:db8:7::/48; `hashed` tells callers apart for a day, and says nothing of who they are: the secret is made anew
 * every day, and never leaves the process.
 */
export function createAddressShower(
  form: AddressForm,
  now: () => number = () => performance.now(),
): (address: string) => string | undefined {
  switch (form) {
    case "none":
      return () => undefined;
    case "truncated":
      return remembered(truncated);
    case "hashed": {
      let secret = { day: -1, bytes: randomBytes(32) };
      return (address) => {
        const day = Math.floor(now() / dayMs);
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

/** Callers whose shown address is remembered: most come again, and the line in the log waits for it. */
const rememberedMax = 1000;

function remembered(show: (address: string) => string): (address: string) => string {
  const known = new LRUCache<string, string>({ max: rememberedMax });
  return (address) => {
    let shown = known.get(address);
    if (shown === undefined) {
      shown = show(address);
      known.set(address, shown);
    }
    return shown;
  };
}

function truncated(address: string): string {
  // Joined, which makes one text: of two that are added V8 makes one where it is read, and `JSON.stringify` then writes the line
  // in twice the time.
  if (address.includes(":")) {
    return [...address.split(":", 3), ":/48"].join(":");
  }
  return address.includes(".") ? [...address.split(".", 3), "0/24"].join(".") : address;
}
