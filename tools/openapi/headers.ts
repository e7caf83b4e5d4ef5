import { type Json, refTo } from "./json.ts";

export const headers = {
  RequestId: {
    description:
      "Id of the request, to quote when asking about it. One sent by the caller is kept if it is 1 to 64 letters, digits or `_.:-`.",
    required: true,
    schema: { type: "string", pattern: "^[\\w.:-]{1,64}$" },
  },
  RateLimitPolicy: {
    description:
      "The caller's windows of requests and engine time in the format of draft-ietf-httpapi-ratelimit-headers: quota (requests, or seconds of engine time) and length in seconds, the tightest window first. If another window refuses the request, such as the window of refusals, that window is first. Absent if nothing is limited.",
    schema: { type: "string", pattern: '^"[^"]+";q=\\d+;w=\\d+(, "[^"]+";q=\\d+;w=\\d+)*$' },
    example: '"minute";q=60;w=60, "engine-hour";q=300;w=3600, "engine-day";q=3600;w=86400',
  },
  RateLimit: {
    description:
      "What is left of those windows, in the same order, and in how many seconds each resets. If a window refuses the request, its `t` equals `Retry-After`.",
    schema: { type: "string", pattern: '^"[^"]+";r=\\d+;t=\\d+(, "[^"]+";r=\\d+;t=\\d+)*$' },
    example: '"minute";r=59;t=60, "engine-hour";r=300;t=3600, "engine-day";r=3600;t=86400',
  },
  RetryAfter: {
    description: "Seconds to wait before sending the request again.",
    required: true,
    schema: { type: "integer", minimum: 1 },
    example: 7,
  },
  ETag: {
    description:
      "Identifies the content of the answer. Sent back in If-None-Match, it gets 304 as long as the content has not changed.",
    required: true,
    schema: { type: "string", pattern: '^(W/)?"[^"]+"$' },
    example: 'W/"kT2hwJb3mGm2D3xGq0a1Zw"',
  },
  WwwAuthenticate: {
    description: "How to authenticate (RFC 6750).",
    required: true,
    schema: { type: "string" },
    example: 'Bearer error="invalid_token"',
  },
} as const satisfies Record<string, Json>;

const fields: Readonly<Record<keyof typeof headers, string>> = {
  RequestId: "X-Request-Id",
  RateLimitPolicy: "RateLimit-Policy",
  RateLimit: "RateLimit",
  RetryAfter: "Retry-After",
  ETag: "ETag",
  WwwAuthenticate: "WWW-Authenticate",
};

export function headersNamed(...names: readonly (keyof typeof headers)[]): Json {
  return Object.fromEntries(names.map((name) => [fields[name], refTo("headers", name)]));
}
