import { errorCodes } from "../../errors/catalogue.ts";
import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";
import { type NodeRequest, pathOf, type RequestHandler } from "../node-message.ts";
import { preferredType } from "../preferred-type.ts";
import { answerGet, type Page } from "./answer-get.ts";
import { explainProblem } from "./explain-problem.ts";
import { htmlFromExplanation, htmlFromExplanations } from "./problem-html.ts";

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
    const path = pathOf(req);
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
