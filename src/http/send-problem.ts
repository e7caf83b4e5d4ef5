import { errorKind } from "../errors/catalog.ts";
import type { KibitzError } from "../errors/errors.ts";
import { headersFromError, problemFromError, problemMediaType } from "../errors/problem.ts";
import { contextOf, outcomeOf } from "../request/context.ts";
import { endBeforeBody } from "./lingering-close.ts";
import { isGone, type NodeRequest, type NodeResponse } from "./message.ts";

/** Sends an error as a problem document, if no response has begun. Do not read the request after this call. */
export function sendProblem(
  req: NodeRequest,
  res: NodeResponse,
  error: KibitzError,
  extraHeaders: readonly (readonly [string, string])[] = [],
): void {
  outcomeOf(req).code ??= error.code;
  if (res.headersSent || res.writableEnded || isGone(res)) {
    return;
  }
  const { status, headers, body } = problemAnswer(error, contextOf(req).id);
  res.statusCode = status;
  for (const [name, value] of [...headers, ...extraHeaders]) {
    res.setHeader(name, value);
  }
  endBeforeBody(req, res, req.method === "HEAD" ? undefined : body);
}

export function problemAnswer(error: KibitzError, requestId: string) {
  const body = Buffer.from(`${JSON.stringify(problemFromError(error, requestId))}\n`);
  const headers: (readonly [string, string])[] = [
    ["Content-Type", problemMediaType],
    ["Content-Length", String(body.length)],
    ["Cache-Control", "no-store"],
    ["X-Request-Id", requestId],
    ...headersFromError(error),
  ];
  return { status: errorKind(error.code).status, headers, body };
}
