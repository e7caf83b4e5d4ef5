import { createHash } from "node:crypto";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf } from "../../request/context.ts";
import { createTimeSlicer } from "../../thread/event-loop.ts";
import { addVary, isNotModified, type NodeRequest, type NodeResponse, writePart } from "../message.ts";
import { sendProblem } from "../send-problem.ts";

/** What a path without parameters shows. */
export interface Page {
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request header that the page depends on. */
  readonly vary?: string;
}

/**
 * Answers GET with the page or, where there is none now, the error; HEAD likewise, and all else with 405. Who has the
 * page already, as its ETag tells, gets 304.
 */
export function answerGet(req: NodeRequest, res: NodeResponse, page: Page | KibitzError): void {
  const { id, path } = contextOf(req);
  // What is not there cannot be read either.
  const missing = page instanceof KibitzError && page.code === "not_found";
  if (!missing && req.method !== "GET" && req.method !== "HEAD") {
    const error = new KibitzError("method_not_allowed", `${path} supports only GET and HEAD.`);
    sendProblem(req, res, error, [["Allow", "GET, HEAD"]]);
    return;
  }
  if (page instanceof KibitzError) {
    sendProblem(req, res, page);
    return;
  }
  res.setHeader("X-Request-Id", id);
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
    void sendBody(res, page.body);
  }
}

/** So much is handed over at a time: what waits tells then whether anything is taken. */
const partBytes = 64 * 1024;

/** The kernel takes megabytes for who reads nothing, and to hand them over takes milliseconds each. */
const beginSending = createTimeSlicer();

async function sendBody(res: NodeResponse, body: string | Buffer): Promise<void> {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const turn = beginSending();
  let at = 0;
  for (; bytes.length - at > partBytes; at += partBytes) {
    await turn();
    if (!(await writePart(res, bytes.subarray(at, at + partBytes)))) {
      return;
    }
  }
  res.end(bytes.subarray(at));
}

/** The ETag of a body: other bodies have others. */
export function tagOf(body: string | Buffer): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}
