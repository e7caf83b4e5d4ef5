import { type ErrorCode, errorKind } from "../../src/errors/catalog.ts";
import { problemMediaType, problemTypeOf } from "../../src/errors/problem.ts";
import type { Route } from "../../src/protocols/json/routes.ts";
import { errorsOfRoute, isCounted } from "./errors-of-route.ts";
import type { Examples } from "./examples.ts";
import { headersNamed } from "./headers.ts";
import type { Json } from "./json.ts";
import type { ResponseComponents } from "./response-components.ts";

export interface ProblemParts {
  readonly problem: Json;
  readonly examples: Examples;
  readonly responses: ResponseComponents;
}

export function problemResponses(route: Route, parts: ProblemParts): Json {
  const byStatus = Map.groupBy(errorsOfRoute(route), (code) => errorKind(code).status);
  const entries = [...byStatus].map(([status, codes]) => {
    const response = problemResponse(route, status, codes, parts);
    return [status, parts.responses.share(response, status, codes, route.method.localName)];
  });
  return Object.fromEntries(entries);
}

function problemResponse(
  route: Route,
  status: number,
  codes: readonly ErrorCode[],
  { problem, examples }: ProblemParts,
): Json {
  return {
    description: descriptionOf(codes),
    headers: headersOf(status, isCounted(route)),
    content: {
      [problemMediaType]: { schema: problem, ...examples.ofProblems(route, codes) },
    },
  };
}

function descriptionOf(codes: readonly ErrorCode[]): string {
  const lines = codes.map((code) => {
    const { title, about } = errorKind(code);
    return `[\`${code}\`](${problemTypeOf(code)}) ${title}. ${about}`;
  });
  return lines.length === 1 ? lines.join() : lines.map((line) => `- ${line}`).join("\n");
}

function headersOf(status: number, counted: boolean): Json {
  // A response has rate limit headers only if the service knows the caller and has counted the request.
  const windows = status === 500 || (counted && [400, 402, 429, 503, 504].includes(status));
  return {
    ...headersNamed("RequestId"),
    ...(windows && headersNamed("RateLimitPolicy", "RateLimit")),
    ...((status === 429 || status === 503) && headersNamed("RetryAfter")),
    ...(status === 401 && headersNamed("WwwAuthenticate")),
  };
}
