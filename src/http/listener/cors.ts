import { cors as connectCors } from "@connectrpc/connect";
import { contextOf } from "../../request/context.ts";
import { endBeforeBody } from "../lingering-close.ts";
import { addVary, isPreflight, type NodeRequest, type NodeResponse } from "../message.ts";

/**
 * Puts the permissions for scripts of other origins into an answer that is about to be made, so that they can read errors, too: by the
 * CORS protocol of the Fetch standard, never with credentials.
 */
export type Cors = (req: NodeRequest, res: NodeResponse) => void;

/** Header fields of an answer to bytes that Node cannot parse, so that their origin is unknown: a script can send a target that is too long. */
export const corsOfUnparsed = (origins: readonly string[]): readonly (readonly [string, string])[] =>
  origins.includes("*") ? [["Access-Control-Allow-Origin", "*"]] : [];

/** Two hours: what Chromium keeps a preflight at most. */
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

/** @param origins that scripts may come from: `*` for every one, none if empty. */
export function createCors(origins: readonly string[]): Cors {
  return (req, res) => {
    const { origin } = req.headers;
    if (origins.length > 0 && req.method !== "POST") {
      // Otherwise a cache could send the answer for one origin to another one, for which it lacks the fields.
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

/** Answers a preflight, which has the fields of {@link Cors} already. */
export function answerPreflight(req: NodeRequest, res: NodeResponse): void {
  res.statusCode = 204;
  res.setHeader("X-Request-Id", contextOf(req).id);
  endBeforeBody(req, res, undefined);
}
