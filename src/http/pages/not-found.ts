import type { KibitzError } from "../../errors/errors.ts";
import { problemMediaType } from "../../errors/problem.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { isGone, type NodeRequest, type NodeResponse, preferredType } from "../message.ts";
import { escapeHtml, staticPage, staticPolicy } from "./html-page.ts";
import { answerGet } from "./page.ts";

/** Answers a browser with an HTML page for a `not_found` error. Returns false for other errors and other clients. */
export function answerNotFound(req: NodeRequest, res: NodeResponse, error: KibitzError): boolean {
  const { method, headers } = req;
  const isRead = method === "GET" || method === "HEAD";
  const isWanted = preferredType(headers.accept, [problemMediaType, "text/html"]) === "text/html";
  if (error.code !== "not_found" || !isRead || !isWanted) {
    return false;
  }
  outcomeOf(req).code ??= error.code;
  if (isGone(res)) {
    return true;
  }
  const { path } = contextOf(req);
  // The request target `*` has no slash.
  const root = "../".repeat(Math.max(0, path.split("/").length - 2)) || "./";
  const main = `<p>There is nothing at this address. <a href="${root}">Analyse a position or review a game</a>.</p>
<p class="quiet">${escapeHtml(error.message)}</p>`;
  res.statusCode = 404;
  answerGet(req, res, {
    contentType: "text/html; charset=utf-8",
    body: Buffer.from(staticPage({ title: "Not found", root, main })),
    headers: {
      "Content-Security-Policy": staticPolicy,
      "Cache-Control": "no-store",
    },
  });
  return true;
}
