import { callerFromRequest } from "../caller.ts";
import { KibitzError } from "../errors.ts";
import { addVary } from "./add-vary.ts";
import { type NodeRequest, type NodeResponse, pathOf } from "./node-message.ts";
import { sendProblem } from "./send-problem.ts";

/** What a path without parameters shows. */
export interface Page {
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request header that the page depends on. */
  readonly vary?: string;
}

/** Answers GET with the page or, where there is none now, the error; HEAD likewise, and all else with 405. */
export function answerGet(req: NodeRequest, res: NodeResponse, page: Page | KibitzError): void {
  const { requestId } = callerFromRequest(req, "json");
  // What is not there cannot be read either.
  const missing = page instanceof KibitzError && page.code === "not_found";
  if (!missing && req.method !== "GET" && req.method !== "HEAD") {
    const error = new KibitzError("method_not_allowed", `${pathOf(req)} can only be read: GET or HEAD.`);
    sendProblem(req, res, error, requestId, [["Allow", "GET, HEAD"]]);
    return;
  }
  if (page instanceof KibitzError) {
    sendProblem(req, res, page, requestId);
    return;
  }
  res.setHeader("Content-Type", page.contentType);
  res.setHeader("Content-Length", Buffer.byteLength(page.body));
  res.setHeader("X-Request-Id", requestId);
  for (const [name, value] of Object.entries(page.headers ?? {})) {
    res.setHeader(name, value);
  }
  if (page.vary !== undefined) {
    addVary(res, page.vary);
  }
  if (req.method === "HEAD") {
    res.end();
  } else {
    res.end(page.body);
  }
}
