import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import type { RequestHandler } from "../message.ts";
import { htmlPage, siteStyle } from "./html-page.ts";
import { answerGet, type CodedPage, compressedPage, pageFor } from "./page.ts";

interface ApiPagesOptions {
  /** Returns another list after the plans have changed. Returns undefined until the plans are loaded. */
  plans(): readonly object[] | undefined;
  tools(): Promise<readonly { readonly name: string; readonly description: string }[]>;
}

/** Serves `/openapi.json`, `/docs` and `/llms.txt`. Also serves `/favicon.ico`, which browsers request from every server. */
export function createApiPages({ plans, tools }: ApiPagesOptions): RequestHandler {
  const document = async () => {
    const known = plans();
    if (known === undefined) {
      throw new KibitzError("starting", "The plans are being loaded.", { retryAfterMs: 1000 });
    }
    return compressedPage("application/json; charset=utf-8", Buffer.from(await openapiDocument(known)));
  };
  const icon = viewerFile("favicon-32x32.png", "image/png");
  const html = "text/html; charset=utf-8";
  const script = "text/javascript; charset=utf-8";
  const policy = { "Content-Security-Policy": docsPolicy };
  const readers: Readonly<Record<string, () => Promise<CodedPage>>> = {
    "/openapi.json": document,
    "/llms.txt": async () =>
      compressedPage("text/plain; charset=utf-8", Buffer.from(await llmsText(await tools()))),
    "/favicon.ico": icon,
    "/docs": () => compressedPage(html, Buffer.from(docsHtml("./")), policy),
    "/docs/": () => compressedPage(html, Buffer.from(docsHtml("../")), policy),
    "/docs/style.css": () => compressedPage("text/css; charset=utf-8", Buffer.from(siteStyle + docsStyle)),
    "/docs/favicon-32x32.png": icon,
    "/docs/start.js": () => compressedPage(script, Buffer.from(docsScript)),
    "/docs/swagger-ui-bundle.js": viewerFile("swagger-ui-bundle.js", script),
    "/docs/swagger-ui.css": viewerFile("swagger-ui.css", "text/css; charset=utf-8"),
  };
  const pages = new Map(
    Object.entries(readers).map(([path, read]) => [
      path,
      cached(read, path === "/openapi.json" ? plans : undefined),
    ]),
  );

  return async (req, res) => {
    const { path } = contextOf(req);
    const page = pages.get(path);
    if (page) {
      answerGet(req, res, pageFor(req, await page()));
    } else if (path.startsWith("/docs/")) {
      throw new KibitzError("not_found", `There is nothing at ${echo(path)}; GET /docs shows the API.`);
    }
    return page !== undefined;
  };
}

/**
 * Reads and compresses a page at the first request and caches it. The next request reads the page again after an error, and if
 * `madeFrom` returns another value.
 */
function cached(
  read: () => Promise<CodedPage>,
  madeFrom: () => unknown = () => undefined,
): () => Promise<CodedPage> {
  let page: Promise<CodedPage> | undefined;
  let source: unknown;
  return () => {
    const now = madeFrom();
    if (now !== source) {
      source = now;
      page = undefined;
    }
    page ??= read().catch((error) => {
      page = undefined;
      throw error;
    });
    return page;
  };
}

/** Reads a file of Swagger UI at its first request. The files have 2 MB, and most servers never send them. */
function viewerFile(name: string, contentType: string): () => Promise<CodedPage> {
  return async () => {
    const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
    return compressedPage(contentType, await readFile(join(folder, name)));
  };
}

/** The page with the API reference. Paths are relative, because a proxy may remove a path prefix. */
const docsHtml = (root: "./" | "../"): string =>
  htmlPage({
    title: "API reference",
    root,
    head: `<link rel="icon" href="${root}docs/favicon-32x32.png">
<link rel="stylesheet" href="${root}docs/swagger-ui.css">
<link rel="stylesheet" href="${root}docs/style.css">`,
    main: `<noscript>This page needs JavaScript. The document that it shows is <a href="${root}openapi.json">openapi.json</a>.</noscript>
<div id="api"></div>
<script src="${root}docs/swagger-ui-bundle.js"></script>
<script src="${root}docs/start.js"></script>`,
  });

/** Styles for Swagger UI with the colours of the web page, because some of Swagger UI's own colours have too little contrast. */
const docsStyle = `
html.dark-mode { background: var(--ground) }
.site-header { max-width: 1460px; padding-inline: 20px }
.swagger-ui { background: none !important }
@media (min-width: 40rem) { .swagger-ui { overflow-wrap: break-word } }
.swagger-ui :not(a, a *, .opblock-summary-method, .btn.execute) { color: var(--text) !important }
.swagger-ui :is(.info, .opblock) a, .swagger-ui .base-url { color: var(--accent) }
.swagger-ui :is(.opblock, .scheme-container, .model-box, .version-stamp, .version, input, select, textarea, pre, code) { background: var(--surface) !important }
.swagger-ui .opblock .opblock-section-header { background: var(--ground) }
.swagger-ui .opblock .opblock-summary .opblock-summary-method, .swagger-ui .btn.execute { background: #1f6b50; color: #fff; text-shadow: none }
.swagger-ui .opblock-get .opblock-summary .opblock-summary-method { background: #1a6897 }
.swagger-ui .opblock-delete .opblock-summary .opblock-summary-method { background: #b3231f }
`;

/** This script is a separate file, because the Content-Security-Policy of the page forbids inline scripts. */
const docsScript = `const dark = matchMedia("(prefers-color-scheme: dark)");
const setColours = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", setColours);
setColours();
// Swagger UI does not label these fields, and its long examples cannot be scrolled with the keyboard.
const names = { "#servers": "Server", ".examples-select-element": "Example", ".content-type": "Media type", ".body-param__text": "Request body" };
const nameFields = () => {
  for (const [selector, name] of Object.entries(names)) {
    for (const field of document.querySelectorAll(selector + ":not([aria-label])")) {
      field.setAttribute("aria-label", name);
    }
  }
  for (const example of document.querySelectorAll("pre.microlight:not([tabindex])")) {
    example.tabIndex = 0;
  }
};
new MutationObserver(nameFields).observe(document.getElementById("api"), { childList: true, subtree: true });
const service = new URL("..", document.currentScript.src).href;
const origin = new URL("/", service).href;
SwaggerUIBundle({
  url: service + "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { activated: false },
  // Without this line, Swagger UI would send the document to its maker's server for validation.
  validatorUrl: null,
  // Paths in the document begin at the root of the host, but a proxy may add a path prefix.
  requestInterceptor: (request) => {
    if (request.url.startsWith(origin) && !request.url.startsWith(service)) {
      request.url = service + request.url.slice(origin.length);
    }
    return request;
  },
});
`;

/** The Content-Security-Policy allows `data:`, because the stylesheet of Swagger UI contains its icons as data URLs. */
const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A file that `npm run generate` writes. The same relative path is correct in a checkout and in the npm package. */
const generatedFile = new URL("../../../gen/openapi.json", import.meta.url);

async function generatedDocument() {
  return JSON.parse(await readFile(generatedFile, "utf8"));
}

async function openapiDocument(plans: readonly object[]): Promise<string> {
  const { info, ...rest } = await generatedDocument();
  const description = `${info.description}\n**Plans** of this service and their limits are at [/price](/price).\n`;
  return `${JSON.stringify({ ...rest, info: { ...info, description }, "x-kibitz-plans": plans })}\n`;
}

/** Returns a description of this service for language models (https://llmstxt.org). */
async function llmsText(tools: Awaited<ReturnType<ApiPagesOptions["tools"]>>): Promise<string> {
  const {
    paths,
  }: { paths: Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>> } =
    await generatedDocument();
  const calls = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, { summary }]) => `- \`${verb.toUpperCase()} ${path}\`: ${summary}`),
  );
  return `# Kibitz

> Chess positions and games, analysed by a real Stockfish. Two ways to ask: tools of the Model Context Protocol, and plain JSON over HTTP.

Never make up an evaluation, a FEN or a best move: ask. A position can always be given as a start and its moves, in SAN or UCI:
\`{"fen": "startpos", "moves": ["e4", "e5", "Nf3"]}\`. Scores are from White's point of view.

## Tools

\`POST /mcp\` on this server, by Streamable HTTP, without a session; or \`kibitz mcp\` on standard input and output (npm package \`kibitz-chess\`).

${tools.map(({ name, description }) => `- \`${name}\`: ${description}`).join("\n")}

## Plain JSON

\`\`\`
POST /v1/eval
Content-Type: application/json

{"fen": "startpos", "moves": ["e4", "e5"], "depth": 14}
\`\`\`

The answer has \`score\` (\`cp\` or \`mate\`), \`best_move\`, \`lines\` and a \`summary\` in words.

${calls.join("\n")}

## Errors and limits

An error is a document with \`code\`, \`detail\`, \`errors\` (which value, what is allowed) and \`next_action\`: \`send_suggested_request\` means that
\`suggested_request\` will be answered, \`retry_later\` that the same request will be, after \`retry_after_ms\`. Tools say the same in their text.
\`GET /price\` shows the plans and their limits. A key, where one is needed, is sent as \`Authorization: Bearer kbz_…\`.

## More

- [OpenAPI document](/openapi.json): every call, field and range
- [API reference](/docs): the same, with forms to try each call
- [Errors](/problems): every code, explained
- [Engines](/engines): versions and their options
`;
}
