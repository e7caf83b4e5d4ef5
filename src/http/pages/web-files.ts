import { readdir, readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { type Page, tagOf } from "./page.ts";

/** How a file can be sent, the shortest first; the last is as it is. */
export const codings = ["br", "gzip", "identity"] as const;

/** A file in the codings that it was built in. */
export interface WebFile {
  readonly br?: Page;
  readonly gzip?: Page;
  readonly identity: Page;
}

/** The built files by their path: `/`, `/assets/index-UB7cnNVR.js`. */
export type WebFiles = ReadonlyMap<string, WebFile>;

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

const endings = { br: ".br", gzip: ".gz" };

/** Where `npm run build:page` puts them. In the package, this file lies below `dist/` itself. */
const built = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/web/" : "../../../web/",
  import.meta.url,
);

/**
 * Reads the files when somebody asks, and again after a build: all of them at once, for the page names them by their content.
 *
 * @returns undefined while there are none, or they are being replaced.
 */
export function createWebFiles(folder = built): () => Promise<WebFiles | undefined> {
  let known: { readonly builtAt: number; readonly files: Promise<WebFiles> } | undefined;
  return async () => {
    try {
      const builtAt = await timeOfBuild(folder);
      if (known?.builtAt !== builtAt) {
        known = { builtAt, files: readFiles(folder) };
      }
      const { files } = known;
      const read = await files;
      // One build's page and another's scripts would not find each other.
      return (await timeOfBuild(folder)) === builtAt ? read : undefined;
    } catch (error) {
      known = undefined;
      if (error instanceof Error && "code" in error && error.code === "ENOENT") {
        return undefined;
      }
      throw error;
    }
  };
}

async function timeOfBuild(folder: URL): Promise<number> {
  return (await stat(new URL("index.html", folder))).mtimeMs;
}

async function readFiles(folder: URL): Promise<WebFiles> {
  const names = await readdir(new URL("assets/", folder));
  const paths = ["index.html", ...names.map((name) => `assets/${name}`)];
  const files = new Map<string, WebFile>();
  for (const path of paths) {
    const contentType = contentTypes[extname(path)];
    if (contentType === undefined) {
      continue;
    }
    const read = async (coding: keyof typeof endings) =>
      paths.includes(`${path}${endings[coding]}`) || path === "index.html"
        ? pageOf(path, contentType, await readFile(new URL(`${path}${endings[coding]}`, folder)), coding)
        : undefined;
    const identity = pageOf(path, contentType, await readFile(new URL(path, folder)));
    const [br, gzip] = [await read("br"), await read("gzip")];
    files.set(path === "index.html" ? "/" : `/${path}`, {
      identity,
      ...(br && { br }),
      ...(gzip && { gzip }),
    });
  }
  return files;
}

/** A file whose name holds the hash of its content never changes. */
const hashed = /-[\w-]{8}\.\w+$/;

function pageOf(path: string, contentType: string, body: Buffer, coding?: string): Page {
  const isPage = path === "index.html";
  return {
    contentType,
    body,
    headers: {
      "Cache-Control": hashed.test(path) ? "public, max-age=31536000, immutable" : "no-cache",
      ETag: tagOf(body),
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Resource-Policy": "same-origin",
      ...(coding && { "Content-Encoding": coding }),
      ...(isPage && guards),
    },
    vary: isPage ? "Accept, Accept-Encoding" : "Accept-Encoding",
  };
}

/** What a browser lets the page do: run, show and ask what is this server's, and nothing else. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const powers = ["accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "microphone"];

const guards = {
  "Content-Security-Policy": pagePolicy,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": [...powers, "payment", "usb"].map((power) => `${power}=()`).join(", "),
};
