import { cors as connectCors } from "@connectrpc/connect";
import { contextOf } from "../../request/context.ts";
import { endBeforeBody } from "../lingering-close.ts";
import { addVary, isPreflight, type NodeRequest, type NodeResponse } from "../message.ts";

/** Adds the CORS headers (Fetch standard) before the answer is made, so that scripts can read errors. Allows no credentials. */
export type Cors = (req: NodeRequest, res: NodeResponse) => void;

/** CORS headers for bytes that Node cannot parse. Their origin is unknown, so only `*` allows scripts to read the answer. */
export const corsOfUnparsed = (origins: readonly string[]): readonly (readonly [string, string])[] =>
  origins.includes("*") ? [["Access-Control-Allow-Origin", "*"]] : [];

/** Preflight cache time in seconds: two hours, the maximum of Chromium. */
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

/** Creates the CORS middleware. `*` allows scripts of all origins to read answers. */
export function createCors(origins: readonly string[]): Cors {
  return (req, res) => {
    const { origin } = req.headers;
    if (origins.length > 0 && req.method !== "POST") {
      // Otherwise a cache could send another origin an answer without its CORS headers.
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
  };
}

export function answerPreflight(req: NodeRequest, res: NodeResponse): void {
  res.statusCode = 204;
  res.setHeader("X-Request-Id", contextOf(req).id);
  endBeforeBody(req, res, undefined);
}
