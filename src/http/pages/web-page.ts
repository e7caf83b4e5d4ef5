import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import { type NodeRequest, preferredType, type RequestHandler } from "../message.ts";
import { answerGet, type CodedPage, type Coding, type Page, pageFor, pageWithTag } from "./page.ts";

/** The folder into which `node tools/build-page.ts` writes the web page. In the npm package, this module is in `dist/`. */
const builtFolder = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/web/" : "../../../web/",
  import.meta.url,
);

/** Serves the web page at `/` to browsers only, and the files below `/assets/` to all clients. */
export function createWebPage(folder = builtFolder): RequestHandler {
  const filesNow = createFileCache(folder);

  async function pageAt(path: string, req: NodeRequest): Promise<Page> {
    const file = (await filesNow())?.get(path);
    if (file) {
      return pageFor(req, file);
    }
    if (path === "/") {
      return notBuilt;
    }
    throw new KibitzError("not_found", `There is nothing at ${echo(path)}; GET / shows the page.`);
  }

  return async (req, res) => {
    const { path } = contextOf(req);
    if (path === "/" ? !wantsPage(req) : !path.startsWith("/assets/")) {
      return false;
    }
    answerGet(req, res, await pageAt(path, req));
    return true;
  };
}

/** True if the client prefers HTML. Browsers name HTML in the Accept header. Other programs, such as curl, accept any type. */
function wantsPage({ headers }: NodeRequest): boolean {
  return preferredType(headers.accept, ["text/plain", "text/html"]) === "text/html";
}

/** The file name extensions of the content codings. */
const extensions: Readonly<Record<Coding, string>> = { br: ".br", gzip: ".gz", identity: "" };

/**
 * Reads all files of a build together, because a page works only with the scripts of the same build.
 * Resolves with the files of the last build while another build replaces them, and with undefined until a build
 * was read.
 */
function createFileCache(folder: URL): () => Promise<ReadonlyMap<string, CodedPage> | undefined> {
  let known: { readonly builtAt: number; readonly files: ReadonlyMap<string, CodedPage> } | undefined;
  let reading: { readonly builtAt: number; readonly files: ReturnType<typeof readFiles> } | undefined;
  return async () => {
    try {
      const { mtimeMs: builtAt } = await stat(new URL("index.html", folder));
      if (known?.builtAt !== builtAt) {
        if (reading?.builtAt !== builtAt) {
          reading = { builtAt, files: readFiles(folder) };
        }
        known = { builtAt, files: await reading.files };
      }
    } catch (error) {
      reading = undefined;
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) {
        throw error;
      }
    }
    return known?.files;
  };
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

async function readFiles(folder: URL): Promise<ReadonlyMap<string, CodedPage>> {
  const files = new Map<string, CodedPage>();
  const assets = (await readdir(new URL("assets/", folder))).map((name) => `assets/${name}`);
  for (const name of ["index.html", ...assets]) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) {
      continue;
    }
    const read = async (coding: Coding) =>
      pageOf(name, contentType, await readFile(new URL(name + extensions[coding], folder)), coding);
    const [br, gzip, identity] = await Promise.all([read("br"), read("gzip"), read("identity")]);
    files.set(name === "index.html" ? "/" : `/${name}`, { br, gzip, identity });
  }
  return files;
}

/** Matches a file name with a hash of the content. A file with such a name never changes. */
const hashed = /-[\w-]{8}\.\w+$/;

function pageOf(name: string, contentType: string, body: Buffer, coding: Coding): Page {
  const isPage = name === "index.html";
  const page = pageWithTag(contentType, body, {
    ...(hashed.test(name) && { "Cache-Control": "public, max-age=31536000, immutable" }),
    "Cross-Origin-Resource-Policy": "same-origin",
    ...(coding !== "identity" && { "Content-Encoding": coding }),
    ...(isPage && pageHeaders),
  });
  return { ...page, vary: isPage ? "Accept, Accept-Encoding" : "Accept-Encoding" };
}

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // The board Chessground uses style attributes, and its pieces are data URLs.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types default",
].join("; ");

const unusedFeatures = ["accelerometer", "camera", "display-capture", "geolocation", "gyroscope"];

const pageHeaders = {
  "Content-Security-Policy": pagePolicy,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": [...unusedFeatures, "microphone", "payment", "usb"]
    .map((feature) => `${feature}=()`)
    .join(", "),
};

/** A refresh by header would only scroll if the address has a fragment, as most addresses of the page have. */
const reload = "document.body.animate([], 2000).finished.then(() => location.reload())";
const sheet =
  "body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; font: 1rem/1.45 system-ui, sans-serif }";
const digestOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** In a checkout, browsers get this page for about a second, until the build is finished. */
const notBuilt: Page = {
  contentType: "text/html; charset=utf-8",
  body: Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Kibitz</title>
<style>${sheet}</style>
<main>
<h1>Kibitz</h1>
<p>The service is here; its page is being built and will show in a moment.</p>
<p>If it does not, the log of the server says why, and <code>node tools/build-page.ts</code> builds it. Meanwhile: <a href="docs">API reference</a>.</p>
</main>
<script>${reload}</script>
</html>
`),
  headers: {
    "Cache-Control": "no-store",
    "Content-Security-Policy": `default-src 'none'; style-src ${digestOf(sheet)}; script-src ${digestOf(reload)}; frame-ancestors 'none'`,
    "X-Content-Type-Options": "nosniff",
  },
  vary: "Accept",
};
