import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createWebPage } from "../../src/http/pages/web-page.ts";
import { createWelcome } from "../../src/http/pages/welcome.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { http2Get } from "./http2-get.ts";
import { startListener } from "./start-listener.ts";

const chromium =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8";
const script = "/assets/index-UB7cnNVR.js";
const scriptText = "console.log('Kibitz');\n".repeat(9000);
const parent = useTemporaryFolder();
let built = 0;

/** Writes the files that `node tools/build-page.ts` would write. */
function build(name: string, html: string, minute = ++built): URL {
  const folder = join(parent, name);
  mkdirSync(join(folder, "assets"), { recursive: true });
  for (const [path, text] of [
    ["index.html", html],
    [script.slice(1), scriptText],
    ["assets/licences.txt", "Licences\n"],
  ] as const) {
    writeFileSync(join(folder, path), text);
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${path}.gz`), gzipSync(text));
  }
  utimesSync(join(folder, "index.html"), minute * 60, minute * 60);
  return pathToFileURL(`${folder}/`);
}

const start = async (folder = build("page", "<title>Page</title>")) =>
  startListener([createWebPage(folder), createWelcome(true)]);

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** Sends a request. Unlike `fetch`, adds no headers and does not decompress the response. */
function ask(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer
        .on("data", (part) => parts.push(part))
        .on("end", () => {
          resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) });
        });
    })
      .on("error", reject)
      .end();
  });
}

test("GET / sends the web page to browsers, with an ETag, and gets 304 if the page has not changed", async () => {
  const { base } = await start();
  const page = await ask(base, { accept: chromium });
  expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8" } });
  expect(page.headers).toMatchObject({
    "cache-control": "no-cache",
    etag: expect.stringMatching(/^"[\w-]{22}"$/),
    vary: "Origin, Accept, Accept-Encoding",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": expect.stringContaining("camera=()"),
    "x-request-id": expect.any(String),
  });
  expect(page.body.toString()).toBe("<title>Page</title>");
  const again = await ask(base, { accept: chromium, "if-none-match": String(page.headers.etag) });
  expect([again.status, again.body.length]).toEqual([304, 0]);
});

test("the security policy of the web page forbids inline scripts and loading anything from other servers", async () => {
  const { base } = await start();
  const policy = String((await ask(base, { accept: chromium })).headers["content-security-policy"]);
  expect(policy.split("; ")).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]),
  );
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
});

test.each([
  undefined,
  "*/*",
  "text/plain",
  "application/json",
  "text/plain, text/html;q=0.5",
  "image/png",
  `text/html${", image/x-of-1".repeat(100)}`,
])("GET / sends plain text to clients that do not prefer HTML: Accept: %.50s", async (accept) => {
  const { base } = await start();
  const answer = await ask(base, accept === undefined ? {} : { accept });
  expect(answer.headers).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    vary: "Origin, Accept",
  });
  expect(answer.body.toString()).toMatch(/^Kibitz analyses chess positions\. Try:/);
});

test("the web page and its assets answer HEAD with the headers of GET, and refuse other methods with 405", async () => {
  const { base } = await start();
  for (const path of ["/", script]) {
    const get = await ask(base + path, { accept: chromium, "accept-encoding": "br" });
    const head = await ask(base + path, { accept: chromium, "accept-encoding": "br" }, "HEAD");
    const { date: _, "x-request-id": __, ...same } = get.headers;
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers).toMatchObject(same);
    const post = await ask(base + path, { accept: chromium }, "POST");
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
  }
});

test("while the web page is not built, GET / sends browsers a temporary page that reloads automatically", async () => {
  const { base } = await start(pathToFileURL(`${parent}/none/`));
  const early = await ask(base, { accept: chromium });
  expect(early.headers).toMatchObject({ "cache-control": "no-store" });
  expect(early.body.toString()).toContain("node tools/build-page.ts");
  expect((await ask(base)).body.toString()).toContain("Try:");
  expect((await ask(base + script)).status).toBe(404);
});

test("GET / sends the old web page while a build replaces it, and then the new one", async () => {
  const folder = build("rebuilt", "<title>Old</title>");
  const { base } = await start(folder);
  expect((await ask(base, { accept: chromium })).body.toString()).toContain("Old");
  build("next", "<title>New</title>");
  rmSync(folder, { recursive: true });
  expect((await ask(base, { accept: chromium })).body.toString()).toContain("Old");
  expect((await ask(base + script)).body.toString()).toBe(scriptText);
  renameSync(join(parent, "next"), folder);
  expect((await ask(base, { accept: chromium })).body.toString()).toContain("New");
});

test("assets are marked immutable if their file name contains a hash of the content", async () => {
  const { base } = await start();
  expect((await ask(base + script)).headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": "text/javascript; charset=utf-8",
    "x-content-type-options": "nosniff",
    vary: "Origin, Accept-Encoding",
  });
  const licences = await ask(`${base}/assets/licences.txt`);
  expect(licences.headers).toMatchObject({ "cache-control": "no-cache", etag: expect.any(String) });
});

test.each([
  [undefined, undefined],
  ["identity", undefined],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, deflate", "gzip"],
  ["gzip, br;q=0", "gzip"],
  ["*", "br"],
  ["zstd", undefined],
  [`br${", x-of-1".repeat(50)}`, undefined],
])(
  "an asset is sent in the smallest encoding that the client accepts: Accept-Encoding: %.30s, sent as %s",
  async (accepted, coding) => {
    const { base } = await start();
    const headers = accepted === undefined ? {} : { "accept-encoding": accepted };
    const answer = await ask(base + script, headers);
    expect(answer.headers["content-encoding"]).toBe(coding);
    expect(answer.headers["content-length"]).toBe(String(answer.body.length));
    const bytes = { br: brotliCompressSync(scriptText), gzip: gzipSync(scriptText) };
    expect(answer.body).toEqual(coding ? bytes[coding as keyof typeof bytes] : Buffer.from(scriptText));
  },
);

test("an asset has a different ETag in each content encoding", async () => {
  const { base } = await start();
  const codings = ["identity", "gzip", "br"];
  const answers = await Promise.all(
    codings.map((coding) => ask(base + script, { "accept-encoding": coding })),
  );
  expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(3);
});

test.each([
  "/assets/",
  "/assets/none.js",
  "/assets/index-UB7cnNVR.js.br",
  "/assets/../index.html",
  "/assets//licences.txt",
  "/assets/__proto__",
])("GET %s gets 404, because no such asset is in the build", async (path) => {
  const { base } = await start();
  const answer = await http2Get(base, { ":path": path });
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([404, "not_found"]);
});

test("requests to paths outside the web page are passed to the next handler", async () => {
  const { base } = await start();
  for (const path of ["/assets", "/assetsx", "/index.html"]) {
    expect((await ask(base + path, { accept: chromium })).status).toBe(404);
  }
  expect((await ask(`${base}/healthz`, { accept: chromium })).status).toBe(200);
});
