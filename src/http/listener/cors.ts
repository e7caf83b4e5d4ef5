import { cors as connectCors } from "@connectrpc/connect";
import { contextOf } from "../../request/context.ts";
import { endBeforeBody } from "../lingering-close.ts";
import { addVary, isPreflight, type NodeRequest, type NodeResponse } from "../message.ts";

/** If Node cannot parse a request, its origin is unknown. Scripts can read the answer only if `origins` contains `*`. */
export const corsOfUnparsed = (origins: readonly string[]): readonly (readonly [string, string])[] =>
  origins.includes("*") ? [["Access-Control-Allow-Origin", "*"]] : [];

/** A browser can cache the answer to a preflight for this many seconds. Two hours are the maximum in Chromium. */
const preflightMaxAgeS = "7200";

const allowedMethods = ["GET", "HEAD", "POST", "DELETE"].join(", ");

const allowedHeaders = [
  ...connectCors.allowedHeaders,
  "Authorization",
  "If-None-Match",
  "X-Request-Id",
  "traceparent",
  "tracestate",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
].join(", ");

const exposedHeaders = [
  ...connectCors.exposedHeaders,
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Request-Id",
  "WWW-Authenticate",
  "ETag",
  "Allow",
  "traceparent",
].join(", ");

const preflightFields: readonly (readonly [string, string])[] = [
  ["Access-Control-Allow-Methods", allowedMethods],
  ["Access-Control-Allow-Headers", allowedHeaders],
  ["Access-Control-Max-Age", preflightMaxAgeS],
];

/** Sets the CORS headers before the request is answered, so that scripts can also read errors. Never allows credentials. */
export function setCorsHeaders(req: NodeRequest, res: NodeResponse, origins: readonly string[]): void {
  const { origin } = req.headers;
  if (origins.length > 0 && req.method !== "POST") {
    // Without `Vary`, a cache could send an answer with the CORS headers of another origin.
    addVary(res, "Origin");
  }
  const allowed = origins.includes("*") ? "*" : origins.find((known) => known === origin);
  if (origin === undefined || allowed === undefined) {
    return;
  }
  const fields = isPreflight(req)
    ? preflightFields
    : [["Access-Control-Expose-Headers", exposedHeaders] as const];
  for (const [name, value] of [["Access-Control-Allow-Origin", allowed] as const, ...fields]) {
    res.setHeader(name, value);
  }
}

export function answerPreflight(req: NodeRequest, res: NodeResponse): void {
  res.statusCode = 204;
  res.setHeader("X-Request-Id", contextOf(req).id);
  endBeforeBody(req, res, undefined);
}
