import { type ErrorCode, errorCodes, errorKind, type NextAction } from "../../errors/catalogue.ts";
import { KibitzError } from "../../errors/errors.ts";
import { problemTypeOf } from "../../errors/problem.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import type { RequestHandler } from "../message.ts";
import { answerGet, type Page } from "./page.ts";

const indexPath = "/problems";

/** `/problems`, and a page for each error code, to which the `type` of problem documents points. */
export function createProblemPages(): RequestHandler {
  const pages = new Map([
    [indexPath, pageOf("Problems", errorCodes, ".")],
    ...errorCodes.map((code) => [problemTypeOf(code), pageOf(errorKind(code).title, [code], "..")] as const),
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

/**
 * A table of errors. Nothing in it comes from a client.
 *
 * @param root the path of the service, seen from the page
 */
function pageOf(title: string, codes: readonly ErrorCode[], root: "." | ".."): Page {
  const rows = codes.map((code) => {
    const { status, rpc, about, nextAction } = errorKind(code);
    return `<tr>
<td><a href="${root}${problemTypeOf(code)}"><code>${code}</code></a><br>HTTP ${status}<br>gRPC <code>${rpc}</code></td>
<td>${escapeHtml(about)}</td>
<td><code>${nextAction}</code>, unless the problem document names another action.<br>${escapeHtml(nextActions[nextAction])}</td>
</tr>`;
  });
  return {
    contentType: "text/html; charset=utf-8",
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} · Kibitz</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
th, td { padding: .2rem 1rem .2rem 0; vertical-align: top; text-align: left }
</style>
<h1>${escapeHtml(title)}</h1>
<table>
<tr><th>Problem<th>Meaning<th>What to do</tr>
${rows.join("\n")}
</table>
<p><a href="${root}${indexPath}">All problems</a></p>
</html>
`,
    headers: {
      "Cache-Control": "public, max-age=86400",
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    },
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
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
};
