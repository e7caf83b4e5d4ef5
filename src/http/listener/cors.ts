import { cors as connectCors } from "@connectrpc/connect";
import { contextOf } from "../../request/context.ts";
import { endBeforeBody } from "../lingering-close.ts";
import { addVary, isPreflight, type NodeRequest, type NodeResponse } from "../message.ts";

/**
 * Adds the CORS headers to an answer before it is made, so that scripts of other origins can also read errors. It follows the
 * Fetch standard, and never allows credentials.
 */
export type Cors = (req: NodeRequest, res: NodeResponse) => void;

/**
 * Returns the CORS headers of an answer to bytes that Node cannot parse, such as a request target that is too long. The origin is
 * unknown then, so only `*` allows scripts to read the answer.
 */
export const corsOfUnparsed = (origins: readonly string[]): readonly (readonly [string, string])[] =>
  origins.includes("*") ? [["Access-Control-Allow-Origin", "*"]] : [];

/** The time for which a browser may cache a preflight, in seconds: two hours, the maximum of Chromium. */
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

/**
 * Creates the CORS middleware.
 *
 * @param origins the origins whose scripts may read answers: `*` allows all, an empty list none
 */
export function createCors(origins: readonly string[]): Cors {
  return (req, res) => {
    const { origin } = req.headers;
    if (origins.length > 0 && req.method !== "POST") {
      // Without this header, a cache could send the answer for one origin to another origin, whose CORS headers it lacks.
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

/** Answers a preflight. The answer already has the headers of {@link Cors}. */
export function answerPreflight(req: NodeRequest, res: NodeResponse): void {
  res.statusCode = 204;
  res.setHeader("X-Request-Id", contextOf(req).id);
  endBeforeBody(req, res, undefined);
}
