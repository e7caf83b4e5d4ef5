import { cors as connectCors } from "@connectrpc/connect";
import { contextOf } from "../../request/context.ts";
import { endBeforeBody } from "../lingering-close.ts";
import { addVary, isPreflight, type NodeRequest, type NodeResponse } from "../message.ts";

/** Permissions for scripts of other origins, by the CORS protocol of the Fetch standard, never with credentials. */
export interface Cors {
  /** Puts the header fields into an answer that is about to be made, so that scripts can read errors, too. */
  apply(req: NodeRequest, res: NodeResponse): void;
  /** Header fields of answers to bytes that are no request, so that their origin is unknown. */
  readonly unread: Fields;
}

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

/** @param origins that scripts may come from: `*` for every one, none if empty. */
export function createCors(origins: readonly string[]): Cors {
  const all = origins.includes("*");
  const allowedFor = (origin: string) => (all ? "*" : origins.find((known) => known === origin));
  return {
    apply(req, res) {
      const { origin } = req.headers;
      if (origins.length > 0 && req.method !== "POST") {
        // Otherwise a cache could send the answer for one origin to another one, for which it lacks the fields.
        addVary(res, "Origin");
      }
      const allowOrigin = origin === undefined ? undefined : allowedFor(origin);
      for (const [name, value] of allowOrigin ? fields(allowOrigin, isPreflight(req)) : []) {
        res.setHeader(name, value);
      }
    },
    unread: all ? fields("*", false) : [],
  };
}

/** Answers a preflight, in which the fields of {@link Cors.apply} stand. */
export function answerPreflight(req: NodeRequest, res: NodeResponse): void {
  res.statusCode = 204;
  res.setHeader("X-Request-Id", contextOf(req).id);
  endBeforeBody(req, res, undefined);
}

type Fields = readonly (readonly [string, string])[];

function fields(allowOrigin: string, preflight: boolean): Fields {
  const origin = ["Access-Control-Allow-Origin", allowOrigin] as const;
  if (!preflight) {
    return [origin, ["Access-Control-Expose-Headers", exposedHeaders]];
  }
  return [
    origin,
    ["Access-Control-Allow-Methods", allowedMethods],
    ["Access-Control-Allow-Headers", allowedHeaders],
    ["Access-Control-Max-Age", preflightMaxAgeS],
  ];
}
