import { type ErrorCode, errorCodes, errorKind, type NextAction } from "../../errors/catalogue.ts";
import { KibitzError } from "../../errors/errors.ts";
import { problemTypeOf } from "../../errors/problem.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { type NodeRequest, preferredType, type RequestHandler } from "../message.ts";
import { answerGet, type Page } from "./page.ts";

const indexPath = "/problems";

/** `/problems` and a page for each error code, behind the `type` of problem documents: HTML for people, JSON for programs. */
export function createProblemPages(): RequestHandler {
  const explanations = errorCodes.map(explain);
  const pages = new Map([
    [indexPath, pagesOf({ problems: explanations }, htmlOf("Problems", explanations, "."))],
    ...explanations.map((each) => [each.type, pagesOf(each, htmlOf(each.title, [each], ".."))] as const),
  ]);

  return (req, res) => {
    const { path } = contextOf(req);
    if (path !== indexPath && !path.startsWith(`${indexPath}/`)) {
      return false;
    }
    const found = pages.get(path);
    if (found === undefined) {
      const detail = `There is no problem page at ${echo(path)}; GET ${indexPath} lists all of them.`;
      throw new KibitzError("not_found", detail);
    }
    answerGet(req, res, asksForJson(req) ? found.json : found.html);
    return true;
  };
}

/** Programs that want JSON name it in `Accept`. All others get HTML, even if they accept neither. */
function asksForJson({ headers }: NodeRequest): boolean {
  const offers = ["text/html", "application/json", "application/problem+json"];
  return (preferredType(headers.accept, offers) ?? "text/html") !== "text/html";
}

function pagesOf(value: object, html: string): { readonly json: Page; readonly html: Page } {
  const headers = { "Cache-Control": "public, max-age=86400" };
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return {
    json: { contentType: "application/json", body: `${JSON.stringify(value)}\n`, headers, vary: "Accept" },
    html: {
      contentType: "text/html; charset=utf-8",
      body: html,
      headers: { ...headers, "Content-Security-Policy": policy },
      vary: "Accept",
    },
  };
}

/**
 * A table of errors. Nothing in it comes from a client.
 *
 * @param root the path of the service, seen from the page
 */
function htmlOf(title: string, explanations: readonly Explanation[], root: "." | ".."): string {
  const rows = explanations.map(
    ({ type, status, code, grpc_code, about, next_action, next_action_about }) => `<tr>
<td><a href="${root}${type}"><code>${code}</code></a><br>HTTP ${status}<br>gRPC <code>${grpc_code}</code></td>
<td>${escapeHtml(about)}</td>
<td><code>${next_action}</code>, unless the problem document names another action.<br>${escapeHtml(next_action_about)}</td>
</tr>`,
  );
  return `<!doctype html>
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
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

type Explanation = ReturnType<typeof explain>;

/** The JSON of an error code. */
function explain(code: ErrorCode) {
  const { title, status, about, nextAction, rpc } = errorKind(code);
  return {
    type: problemTypeOf(code),
    title,
    status,
    code,
    about,
    next_action: nextAction,
    next_action_about: nextActions[nextAction],
    grpc_code: rpc,
  };
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
