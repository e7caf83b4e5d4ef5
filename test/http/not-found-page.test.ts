import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { siteStyle } from "../../src/http/pages/html-page.ts";
import { createProblemPages } from "../../src/http/pages/problems.ts";
import { startListener } from "./start-listener.ts";

const chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

test.each([
  ["/nothing", "./"],
  ["/nothing/", "../"],
  ["/a/b/c?d=e", "../../"],
  ["/problems/nope", "../"],
])("a browser that opens %s gets a page with status 404 and a link to the start page", async (path, root) => {
  const { base } = await startListener([createProblemPages()]);
  const answer = await fetch(base + path, { headers: { accept: chromium } });
  expect(answer.status).toBe(404);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": expect.stringContaining("default-src 'none'"),
    "cache-control": "no-store",
    "x-request-id": expect.any(String),
  });
  expect(await answer.text()).toContain(`href="${root}"`);
});

test("the 404 page escapes the requested address", async () => {
  const { base } = await startListener();
  const path = "/<script>alert(1)</script>&quot;";
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(base, { path, headers: { accept: chromium } }, resolve)
      .on("error", reject)
      .end();
  });
  const html = await text(answer);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&amp;quot;");
  expect(html).not.toContain("<script>");
});

test.each([
  ["curl", { headers: { accept: "*/*" } }],
  ["a program with an empty Accept header", { headers: { accept: "" } }],
  ["a program that prefers JSON", { headers: { accept: "application/json, text/html;q=0.5, */*" } }],
  ["a submitted form", { method: "POST", headers: { accept: chromium } }],
])("a request by %s gets the problem document with status 404", async (_, init) => {
  const { base } = await startListener();
  const answer = await fetch(`${base}/nothing`, init);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  expect(await answer.json()).toMatchObject({ code: "not_found" });
});

test("the pages of the server have the same colours as the page at /", () => {
  const tokens = readFileSync("web/src/style/tokens.css", "utf8");
  const colours = siteStyle.match(/--[\w-]+: light-dark\(.*\);/g) ?? [];
  expect(colours.length).toBeGreaterThan(5);
  for (const colour of colours) {
    expect(tokens).toContain(colour);
  }
});
