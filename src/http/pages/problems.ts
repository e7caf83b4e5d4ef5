import { type ErrorCode, errorCodes, errorKind, type NextAction } from "../../errors/catalogue.ts";
import { KibitzError } from "../../errors/errors.ts";
import { problemTypeOf } from "../../errors/problem.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { type NodeRequest, preferredType, type RequestHandler } from "../message.ts";
import { answerGet, type Page } from "./page.ts";

const indexPath = "/problems";

const offers = ["text/html", "application/json", "application/problem+json"];

/** The pages behind the `type` of problem documents, for people and as JSON, all made from the catalogue. */
export function createProblemPages(): RequestHandler {
  const explanations = errorCodes.map(explainProblem);
  const byPath = new Map(explanations.map((explanation) => [explanation.type, explanation]));

  const page = (path: string, asJson: boolean): Page | KibitzError => {
    if (path === indexPath) {
      return asJson ? json({ problems: explanations }) : html(htmlFromExplanations(explanations));
    }
    const explanation = byPath.get(path);
    if (explanation === undefined) {
      const plain = path.replace(/\/$/, "");
      if (plain === indexPath || byPath.has(plain)) {
        const detail = `There is nothing at ${path}. Leave out the slash at the end: ${plain}.`;
        return new KibitzError("not_found", detail);
      }
      return new KibitzError(
        "not_found",
        `There is no problem page at ${echo(path)}; GET ${indexPath} lists all of them.`,
      );
    }
    return asJson ? json(explanation) : html(htmlFromExplanation(explanation));
  };

  return (req, res) => {
    const { path } = contextOf(req);
    if (path !== indexPath && !path.startsWith(`${indexPath}/`)) {
      return false;
    }
    answerGet(req, res, page(path, asksForJson(req)));
    return true;
  };
}

/** Programs that want JSON name it; browsers and curl get HTML, and so does whoever accepts neither. */
function asksForJson({ headers }: NodeRequest): boolean {
  return (preferredType(headers.accept, offers) ?? "text/html") !== "text/html";
}

const caching = { "Cache-Control": "public, max-age=86400" };
const vary = "Accept";

function json(value: object): Page {
  return { contentType: "application/json", body: `${JSON.stringify(value)}\n`, headers: caching, vary };
}

function html(body: string): Page {
  const csp = "default-src 'none'; style-src 'unsafe-inline'";
  return {
    contentType: "text/html; charset=utf-8",
    body,
    headers: { ...caching, "Content-Security-Policy": csp },
    vary,
  };
}

/** The page of one error code. Nothing in it comes from a caller. */
export function htmlFromExplanation(problem: Explanation): string {
  return frame(
    problem.title,
    `<h1>${htmlText(problem.title)}</h1>
<p>${htmlText(problem.about)}</p>
<h2>What to do</h2>
<p>${htmlText(problem.next_action_about)}</p>
<dl>
<dt>code</dt><dd><code>${problem.code}</code></dd>
<dt>HTTP status</dt><dd>${problem.status}</dd>
<dt>gRPC code</dt><dd><code>${problem.grpc_code}</code></dd>
<dt>next_action</dt><dd><code>${problem.next_action}</code>, unless the problem document names another</dd>
</dl>
<p><a href="../problems">All problems</a></p>`,
  );
}

/** The list of all error codes. */
export function htmlFromExplanations(problems: readonly Explanation[]): string {
  const rows = problems.map(
    ({ type, code, status, about }) =>
      `<tr><td>${status}</td><td><a href=".${type}"><code>${code}</code></a></td><td>${htmlText(about)}</td></tr>`,
  );
  return frame("Problems", `<h1>Problems</h1>\n<table>\n${rows.join("\n")}\n</table>`);
}

function frame(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${htmlText(title)} · Kibitz</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
td { padding: .2rem 1rem .2rem 0; vertical-align: top }
dt { float: left; clear: left; width: 8rem }
</style>
${content}
</html>
`;
}

function htmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** What the catalogue says of an error code, for readers who have met one. */
export interface Explanation {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly about: string;
  readonly next_action: NextAction;
  readonly next_action_about: string;
  readonly grpc_code: string;
}

export function explainProblem(code: ErrorCode): Explanation {
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
