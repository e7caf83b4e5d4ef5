import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf } from "../../request/context.ts";
import { addVary, isNotModified, type NodeRequest, type NodeResponse } from "../message.ts";
import { sendProblem } from "../send-problem.ts";

export interface Page {
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly vary?: string;
}

/** Creates a page with an ETag. Browsers must revalidate the page at every visit. */
export function pageWithTag(contentType: string, body: string | Buffer, headers: Page["headers"] = {}): Page {
  const digest = createHash("sha256").update(body).digest("base64url");
  return {
    contentType,
    body,
    headers: {
      "Cache-Control": "no-cache",
      ETag: `"${digest.slice(0, 22)}"`,
      "Referrer-Policy": "no-referrer",
      ...headers,
    },
  };
}

export function answerGet(req: NodeRequest, res: NodeResponse, page: Page): void {
  const { id, path } = contextOf(req);
  if (req.method !== "GET" && req.method !== "HEAD") {
    const error = new KibitzError("method_not_allowed", `${path} supports only GET and HEAD.`);
    sendProblem(req, res, error, [["Allow", "GET, HEAD"]]);
    return;
  }
  res.setHeader("X-Request-Id", id);
  res.setHeader("X-Content-Type-Options", "nosniff");
  for (const [name, value] of Object.entries(page.headers ?? {})) {
    res.setHeader(name, value);
  }
  if (page.vary !== undefined) {
    addVary(res, page.vary);
  }
  if (isNotModified(req, page.headers?.ETag)) {
    res.statusCode = 304;
    res.end();
    return;
  }
  res.setHeader("Content-Type", page.contentType);
  res.setHeader("Content-Length", Buffer.byteLength(page.body));
  if (req.method === "HEAD") {
    res.end();
  } else {
    // HTTP/1.1 and HTTP/2 responses both accept strings and buffers, but TypeScript cannot combine their overloads.
    (res as ServerResponse).end(page.body);
  }
}
