import { type ErrorCode, errorCodes, errorKind, type NextAction } from "../../errors/catalog.ts";
import { KibitzError } from "../../errors/errors.ts";
import { problemTypeOf } from "../../errors/problem.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import type { RequestHandler } from "../message.ts";
import { escapeHtml, staticPage, staticPolicy } from "./html-page.ts";
import { answerGet, type Page } from "./page.ts";

const indexPath = "/problems";

/** Serves `/problems` and a page for each error code. The `type` of a problem document is the path of such a page. */
export function createProblemPages(): RequestHandler {
  const pages = new Map([
    [indexPath, pageOf("Error codes", errorCodes, "./")],
    ...errorCodes.map((code) => [problemTypeOf(code), pageOf(errorKind(code).title, [code], "../")] as const),
  ]);

  return (req, res) => {
    const { path } = contextOf(req);
    if (path !== indexPath && !path.startsWith(`${indexPath}/`)) {
      return false;
    }
    const page = pages.get(path);
    if (page === undefined) {
      const detail = `There is no problem page at ${echo(path)}; GET ${indexPath} lists all of them.`;
      throw new KibitzError("not_found", detail);
    }
    answerGet(req, res, page);
    return true;
  };
}

/** Returns a page that explains errors. The page contains no text from a client. */
function pageOf(title: string, codes: readonly ErrorCode[], root: "./" | "../"): Page {
  const isIndex = root === "./";
  const explained = codes.map((code) => {
    const { status, rpc, about, nextAction } = errorKind(code);
    const heading = `<h2><a href="${root}${problemTypeOf(code).slice(1)}"><code>${code}</code></a></h2>\n`;
    return `${isIndex ? heading : ""}<p class="quiet">HTTP ${status} · gRPC <code>${rpc}</code>${isIndex ? "" : ` · code <code>${code}</code>`}</p>
<p>${textOf(about)}</p>
<p><code>${nextAction}</code>, unless the problem document names another action: ${textOf(nextActions[nextAction])}</p>`;
  });
  return {
    contentType: "text/html; charset=utf-8",
    body: Buffer.from(staticPage({ title, root, main: explained.join("\n") })),
    headers: { "Cache-Control": "public, max-age=86400", "Content-Security-Policy": staticPolicy },
  };
}

/** Converts a text of the error catalog to HTML. Backticks mark code. */
function textOf(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

const nextActions: Readonly<Record<NextAction, string>> = {
  fix_request: "Change the request: sent again unchanged, it will fail again.",
  send_suggested_request:
    "Send the request in `suggested_request`: it will be answered. Errors of gRPC and Connect carry it in the Problem among their details.",
  list_engines: "Send one of the ids listed by GET /engines.",
  use_auto_path: "Omit path, or send auto.",
  get_api_key: "Get an API key and send it as Authorization: Bearer kbz_…",
  check_api_key: "Check the API key in the Authorization header, or omit the header.",
  reduce_limits: "Ask for a lower depth, fewer lines or less time.",
  retry_now: "Send the same request again.",
  retry_later: "Send the same request again after the time in Retry-After.",
  contact_operator: "Ask the operator of this service.",
  send_to_eval: "Send the position to POST /v1/eval, which needs no table.",
};
