import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { builtInPlans } from "../../src/access/plans.ts";
import { createApiPages } from "../../src/http/pages/api-pages.ts";
import { shownPlans } from "../../src/wiring/plans.ts";
import { http2Get } from "./http2-get.ts";
import { startListener } from "./start-listener.ts";

const tools = async () => [{ name: "look", description: "Look at a position." }];
const start = (plans: readonly object[] | undefined = shownPlans(builtInPlans)) =>
  startListener([createApiPages({ plans: () => plans, tools })]);

async function getUnnormalized(base: string, path: string) {
  return http2Get(base, { ":path": path });
}

test("GET /openapi.json returns an ETag, and returns 304 if the document has not changed", async () => {
  const { base } = await start();
  const first = await fetch(`${base}/openapi.json`);
  const tag = first.headers.get("etag") ?? "";
  expect(first.status).toBe(200);
  expect(Object.fromEntries(first.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-cache",
    etag: expect.stringMatching(/^"[\w-]{22}"$/),
    "x-content-type-options": "nosniff",
    "x-request-id": expect.any(String),
  });
  expect(await first.json()).toMatchObject({ openapi: "3.1.1", servers: [{ url: "/" }] });
  const again = await fetch(`${base}/openapi.json`, { headers: { "If-None-Match": tag } });
  expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
  const other = await fetch(`${base}/openapi.json`, { headers: { "If-None-Match": '"other"' } });
  expect(other.status).toBe(200);
});

test("the OpenAPI document contains the version of the package and the current plans", async () => {
  const { base } = await start();
  const document = await (await fetch(`${base}/openapi.json`)).json();
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(document).toMatchObject({ info: { version }, "x-kibitz-plans": shownPlans(builtInPlans) });
});

test("GET /openapi.json gets 503 until the plans are loaded", async () => {
  let plans: readonly object[] | undefined;
  const { base } = await startListener([createApiPages({ plans: () => plans, tools })]);
  const early = await fetch(`${base}/openapi.json`);
  expect([early.status, early.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await early.json()).toMatchObject({ code: "starting" });
  plans = shownPlans(builtInPlans);
  expect((await fetch(`${base}/openapi.json`)).status).toBe(200);
});

test("the security policy of the page /docs forbids loading anything from other servers", async () => {
  const { base } = await start();
  for (const path of ["/docs", "/docs/", "/docs?x=1"]) {
    const page = await fetch(base + path);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
    expect(await page.text()).not.toMatch(/(src|href)="(\/|\w+:)/);
  }
});

test("every file that the page /docs links to exists, over HTTP/1.1 and HTTP/2", async () => {
  const { base } = await start();
  const filesOf = async (path: string) => {
    const html = await (await fetch(base + path)).text();
    const names = [...html.matchAll(/(?:src|href)="([^"]*docs\/[^"]+)"/g)].map(([, name = ""]) => name);
    return names.map((name) => new URL(name, base + path).pathname);
  };
  const files = await filesOf("/docs");
  expect(files).toHaveLength(5);
  expect(await filesOf("/docs/")).toEqual(files);
  for (const path of files) {
    const answer = await fetch(base + path, { headers: { "Accept-Encoding": "identity" } });
    const body = await answer.bytes();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(
      /^(text\/(javascript|css); charset=utf-8|image\/png)$/,
    );
    expect(Number(answer.headers.get("content-length"))).toBe(body.length);
    expect((await getUnnormalized(base, path)).body.length).toBeGreaterThan(0);
  }
});

test.each([
  "/docs/package.json",
  "/docs/../package.json",
  "/docs/%2e%2e/package.json",
  "/docs//swagger-ui.css",
  "/docs/__proto__",
  "/docs/\\..\\package.json",
])("GET %s gets 404, because no such file belongs to the page /docs", async (path) => {
  const { base } = await start();
  const answer = await getUnnormalized(base, path);
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([404, "not_found"]);
});

test("requests to paths outside the API pages are passed to the next handler", async () => {
  const { base } = await start();
  for (const path of ["/docsx", "/openapi.jsonx", "/openapi.json/", "/doc"]) {
    expect((await fetch(base + path)).status).toBe(404);
  }
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
});

test("GET /favicon.ico returns the icon of the page /docs", async () => {
  const { base } = await start();
  const icon = await fetch(`${base}/favicon.ico`);
  expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(await icon.bytes()).toEqual(await (await fetch(`${base}/docs/favicon-32x32.png`)).bytes());
});

test("GET /llms.txt lists the MCP tools, and every call with its summary from the OpenAPI document", async () => {
  const { base } = await start();
  const answer = await fetch(`${base}/llms.txt`);
  const text = await answer.text();
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    etag: expect.any(String),
  });
  expect(text).toMatch(/^# Kibitz\n\n> .+\n/);
  expect(text).toContain("- `look`: Look at a position.");
  const { paths }: { paths: Record<string, Record<string, { readonly summary: string }>> } = JSON.parse(
    readFileSync("gen/openapi.json", "utf8"),
  );
  const calls = Object.entries(paths);
  for (const [path, verbs] of calls) {
    for (const [verb, { summary }] of Object.entries(verbs)) {
      expect(text).toContain(`- \`${verb.toUpperCase()} ${path}\`: ${summary}\n`);
    }
  }
  expect(text.match(/^- `[A-Z]+ \//gm)).toHaveLength(calls.flatMap(([, verbs]) => Object.keys(verbs)).length);
});

test("GET /llms.txt contains links only to pages of this server", async () => {
  const { base } = await start();
  const text = await (await fetch(`${base}/llms.txt`)).text();
  const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, path]) => path);
  expect(links).toEqual(["/openapi.json", "/docs", "/problems", "/engines"]);
});

test("a request for an API page whose file cannot be read gets 500 and an error in the log, and the next request reads the file again", async () => {
  const cause = new Error("no tools");
  const failing = vi.fn(tools).mockRejectedValueOnce(cause);
  const { base, errors } = await startListener([createApiPages({ plans: () => undefined, tools: failing })]);
  const failed = await fetch(`${base}/llms.txt`);
  expect([failed.status, await failed.json()]).toEqual([500, expect.objectContaining({ code: "internal" })]);
  expect(errors).toMatchObject([{ err: cause, request: "/llms.txt" }]);
  expect((await fetch(`${base}/llms.txt`)).status).toBe(200);
  expect((await fetch(`${base}/llms.txt`)).status).toBe(200);
  expect(failing).toHaveBeenCalledTimes(2);
});

test("the files of the page /docs are compressed, and each coding has an ETag of its own", async () => {
  const { base } = await start();
  const path = "/docs/swagger-ui-bundle.js";
  const inCoding = (coding: string) => http2Get(base, { ":path": path, "accept-encoding": coding });
  const plain = await inCoding("identity");
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.headers.vary).toContain("Accept-Encoding");
  const tags = new Set([plain.headers.etag]);
  for (const coding of ["br", "gzip"]) {
    const packed = await inCoding(coding);
    expect(packed.headers["content-encoding"]).toBe(coding);
    expect(packed.headers.vary).toContain("Accept-Encoding");
    expect(Number(packed.headers["content-length"])).toBeLessThan(plain.body.length / 3);
    tags.add(packed.headers.etag);
    const unpacked = await fetch(base + path, { headers: { "Accept-Encoding": coding } });
    expect(await unpacked.text()).toBe(plain.body);
    const again = await http2Get(base, {
      ":path": path,
      "accept-encoding": coding,
      "if-none-match": packed.headers.etag,
    });
    expect(again.headers[":status"]).toBe(304);
  }
  expect(tags.size).toBe(3);
});
