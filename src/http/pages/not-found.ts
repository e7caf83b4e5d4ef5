import type { KibitzError } from "../../errors/errors.ts";
import { problemMediaType } from "../../errors/problem.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { endBeforeBody } from "../lingering-close.ts";
import { isGone, type NodeRequest, type NodeResponse, preferredType } from "../message.ts";
import { escapeHtml, staticPage, staticPolicy } from "./html-page.ts";

/** Sends a browser an HTML page for a `not_found` error. Returns false for other errors and other clients, such as curl. */
export function answerNotFound(req: NodeRequest, res: NodeResponse, error: KibitzError): boolean {
  const { method, headers } = req;
  const isRead = method === "GET" || method === "HEAD";
  const isWanted = preferredType(headers.accept, [problemMediaType, "text/html"]) === "text/html";
  if (error.code !== "not_found" || !isRead || !isWanted) {
    return false;
  }
  const { id, path } = contextOf(req);
  outcomeOf(req).code ??= error.code;
  if (isGone(res)) {
    return true;
  }
  const root = "../".repeat(path.split("/").length - 2) || "./";
  const main = `<p>There is nothing at this address. <a href="${root}">Analyse a position or review a game</a>.</p>
<p class="quiet">${escapeHtml(error.message)}</p>`;
  const body = Buffer.from(staticPage({ title: "Not found", root, main }));
  res.statusCode = 404;
  res.setHeader("Content-Type", "text/html; charset=utf-8");
  res.setHeader("Content-Length", body.length);
  res.setHeader("Content-Security-Policy", staticPolicy);
  res.setHeader("X-Content-Type-Options", "nosniff");
  res.setHeader("Cache-Control", "no-store");
  res.setHeader("X-Request-Id", id);
  endBeforeBody(req, res, method === "HEAD" ? undefined : body);
  return true;
}
