import Negotiator from "negotiator";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import type { Log } from "../../log/log.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { type NodeRequest, type NodeResponse, preferredType, type RequestHandler } from "../message.ts";
import { sendProblem } from "../send-problem.ts";
import { answerGet, type Page } from "./page.ts";
import { codings, createWebFiles, type WebFile } from "./web-files.ts";

export interface WebPageOptions {
  readonly log: Pick<Log, "error">;
  /** The built page, with a `/` at its end; where the build puts it, unless given. */
  readonly folder?: URL;
}

/** `GET /` for browsers, and what the page loads from `/assets/`. Who wants anything else at `/` is somebody else's to answer. */
export function createWebPage({ log, folder }: WebPageOptions): RequestHandler {
  const files = createWebFiles(folder);

  async function answer(req: NodeRequest, res: NodeResponse, path: string): Promise<void> {
    try {
      const found = (await files())?.get(path);
      const otherwise =
        path === "/"
          ? notBuilt
          : new KibitzError("not_found", `There is nothing at ${echo(path)}; GET / shows the page.`);
      answerGet(req, res, found ? inCoding(req, found) : otherwise);
    } catch (thrown) {
      const { id: requestId } = contextOf(req);
      log.error({ err: thrown, requestId, request: echo(path) }, "the page could not be read");
      sendProblem(req, res, errorFromUnknown(thrown));
    }
  }

  return (req, res) => {
    const { path } = contextOf(req);
    if (path === "/" ? !wantsPage(req) : !path.startsWith("/assets/")) {
      return false;
    }
    void answer(req, res, path);
    return true;
  };
}

/** Browsers name HTML; curl and programs take whatever comes. */
function wantsPage({ headers }: NodeRequest): boolean {
  return preferredType(headers.accept, ["text/plain", "text/html"]) === "text/html";
}

/** Longer than any browser's; what is longer is disregarded. */
const acceptMaxLength = 200;

function inCoding({ headers }: NodeRequest, file: WebFile): Page {
  const accept = headers["accept-encoding"];
  const isRead = typeof accept === "string" && accept.length <= acceptMaxLength;
  const accepted: readonly string[] = isRead
    ? new Negotiator({ headers: { "accept-encoding": accept } }).encodings([...codings])
    : [];
  const coding = codings.find((one) => accepted.includes(one) && file[one]) ?? "identity";
  return file[coding] ?? file.identity;
}

/** In a checkout the build runs when the server has begun, and takes a second. */
const notBuilt: Page = {
  contentType: "text/html; charset=utf-8",
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Kibitz</title>
<main>
<h1>Kibitz</h1>
<p>The service is here; its page is being built and will show in a moment.</p>
<p>If it does not, the log of the server says why, and <code>npm run build:page</code> builds it. Meanwhile: <a href="docs">API reference</a>.</p>
</main>
</html>
`,
  headers: {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    Refresh: "2",
    "X-Content-Type-Options": "nosniff",
  },
  vary: "Accept",
};
