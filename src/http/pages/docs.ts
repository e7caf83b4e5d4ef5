import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import type { Log } from "../../log/log.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import type { NodeRequest, NodeResponse, RequestHandler } from "../message.ts";
import { sendProblem } from "../send-problem.ts";
import { llmsText, type ShownTool } from "./llms.ts";
import { openapiDocument, type ShownPlan } from "./openapi-document.ts";
import { answerGet, type Page, tagOf } from "./page.ts";

export interface ApiPagesOptions {
  /** The plans in force; undefined as long as they are not known. They do not change later. */
  plans(): readonly ShownPlan[] | undefined;
  /** What agents can ask, read when somebody wants to know. */
  tools(): Promise<readonly ShownTool[]>;
  readonly log: Pick<Log, "error">;
}

/** Those that do not lie below `/docs/`. */
const pages: readonly string[] = ["/openapi.json", "/llms.txt", "/docs", "/favicon.ico"];

/** `/openapi.json`, `/llms.txt`, the icon that browsers ask every server for, and `/docs`, which shows it. Nothing is read or kept before somebody asks. */
export function createApiPages({ plans, tools, log }: ApiPagesOptions): RequestHandler {
  let document: Promise<Page> | undefined;
  let forModels: Promise<Page> | undefined;
  /** One buffer for all who ask: a copy for each who takes nothing of it would be memory that anybody can hold. */
  const viewer = new Map<string, Promise<Page>>();

  const viewerPage = (name: string): Promise<Page> | undefined => {
    const known =
      viewer.get(name) ?? viewerFile(name)?.then(({ contentType, body }) => page(contentType, body));
    if (known) {
      viewer.set(name, known);
    }
    return known;
  };

  const pageOf = (path: string): Promise<Page> | Page | KibitzError => {
    switch (path) {
      case "/openapi.json": {
        const known = plans();
        if (known === undefined) {
          return new KibitzError("starting", "The plans are being loaded.", { retryAfterMs: 1000 });
        }
        document ??= openapiPage(known);
        return document;
      }
      case "/llms.txt":
        forModels ??= llmsPage(tools);
        return forModels;
      case "/docs":
        return page("text/html; charset=utf-8", docsHtml(""), { "Content-Security-Policy": docsPolicy });
      case "/docs/":
        return page("text/html; charset=utf-8", docsHtml("../"), { "Content-Security-Policy": docsPolicy });
      case "/favicon.ico":
        return viewerPage("favicon-32x32.png") ?? new KibitzError("not_found", "There is no icon.");
      case "/docs/start.js":
        return page("text/javascript; charset=utf-8", docsScript);
      default:
        return (
          viewerPage(path.slice("/docs/".length)) ??
          new KibitzError("not_found", `There is nothing at ${echo(path)}; GET /docs shows the API.`)
        );
    }
  };

  async function answer(req: NodeRequest, res: NodeResponse, path: string): Promise<void> {
    try {
      answerGet(req, res, await pageOf(path));
    } catch (thrown) {
      document = undefined;
      forModels = undefined;
      viewer.clear();
      log.error(
        { err: thrown, requestId: contextOf(req).id, request: echo(path) },
        "a page of the API could not be read",
      );
      sendProblem(req, res, errorFromUnknown(thrown));
    }
  }

  return (req, res) => {
    const { path } = contextOf(req);
    if (!pages.includes(path) && !path.startsWith("/docs/")) {
      return false;
    }
    void answer(req, res, path);
    return true;
  };
}

async function openapiPage(plans: readonly ShownPlan[]): Promise<Page> {
  return page("application/json; charset=utf-8", Buffer.from(await openapiDocument(plans)));
}

async function llmsPage(tools: ApiPagesOptions["tools"]): Promise<Page> {
  return page("text/plain; charset=utf-8", await llmsText(await tools()));
}

/** What has changed with a new version is seen at once, what has not costs no transfer. */
function page(contentType: string, body: string | Buffer, headers: Page["headers"] = {}): Page {
  return {
    contentType,
    body,
    headers: {
      "Cache-Control": "no-cache",
      ETag: tagOf(body),
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      ...headers,
    },
  };
}

/** The files of Swagger UI that the page of the API loads, and none other of its folder. */
const contentTypes = new Map([
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["swagger-ui.css", "text/css; charset=utf-8"],
  ["favicon-32x32.png", "image/png"],
]);

/** A file of the viewer, as it lies in its package. */
export interface ViewerFile {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Read when asked for: 2 MB that most servers never send. Undefined for what is no file of the viewer. */
export function viewerFile(name: string): Promise<ViewerFile> | undefined {
  const contentType = contentTypes.get(name);
  return contentType === undefined ? undefined : read(name, contentType);
}

async function read(name: string, contentType: string): Promise<ViewerFile> {
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  return { contentType, body: await readFile(join(folder, name)) };
}

/**
 * The page that shows the OpenAPI document. It loads nothing but files of this server, also where a proxy has stripped a prefix.
 *
 * @param root where the service begins, seen from the page.
 */
export const docsHtml = (root: "" | "../"): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Kibitz API</title>
<link rel="icon" href="${root}docs/favicon-32x32.png">
<link rel="stylesheet" href="${root}docs/swagger-ui.css">
<noscript>This page needs JavaScript. The document that it shows is <a href="${root}openapi.json">openapi.json</a>.</noscript>
<main id="api"></main>
<script src="${root}docs/swagger-ui-bundle.js"></script>
<script src="${root}docs/start.js"></script>
</html>
`;

/** Starts the viewer. A file of its own, because the page allows no script inside it. */
export const docsScript = `const service = new URL("..", document.currentScript.src).href;
const origin = new URL("/", service).href;
SwaggerUIBundle({
  url: service + "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  // Else the viewer asks a server of its makers whether the document is valid.
  validatorUrl: null,
  // The document says that calls begin at the root, which a proxy may have put below a path.
  requestInterceptor: (request) => {
    if (request.url.startsWith(origin) && !request.url.startsWith(service)) {
      request.url = service + request.url.slice(origin.length);
    }
    return request;
  },
});
`;

/** The stylesheet has its icons inside it, as data. */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
