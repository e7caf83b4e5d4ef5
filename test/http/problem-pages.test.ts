import { expect, test } from "vitest";
import { errorCodes, errorKind } from "../../src/errors/catalog.ts";
import { problemTypeOf } from "../../src/errors/problem.ts";
import { createProblemPages } from "../../src/http/pages/problems.ts";
import { startListener } from "./start-listener.ts";

const start = () => startListener([createProblemPages()]);

test("every code of the catalog has a page that explains it", async () => {
  const { base } = await start();
  for (const code of errorCodes) {
    const { title, status, rpc } = errorKind(code);
    const page = await fetch(base + problemTypeOf(code));
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(`HTTP ${status} · gRPC <code>${rpc}</code> · code <code>${code}</code>`);
  }
});

test("GET /problems lists every code of the catalog", async () => {
  const { base } = await start();
  const list = await (await fetch(`${base}/problems`)).text();
  for (const code of errorCodes) {
    expect(list).toContain(`<a href=".${problemTypeOf(code)}"><code>${code}</code></a>`);
  }
});

test("the pages that explain error codes load no files, run no scripts and may be cached", async () => {
  const { base } = await start();
  const { headers } = await fetch(`${base}/problems/overloaded`, { headers: { accept: "text/html, */*" } });
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "public, max-age=86400",
    vary: "Origin",
  });
});

test("problem pages for unknown codes or other spellings do not exist", async () => {
  const { base } = await start();
  for (const path of [
    "/problems/nope",
    "/problems/",
    "/problems/overloaded/",
    "/problems/rate_limited",
    "/problems/__proto__",
  ]) {
    const answer = await fetch(base + path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "not_found" });
  }
});

test("a problem page that does not exist gets 404 for every method", async () => {
  const { base } = await startListener([createProblemPages()]);
  for (const method of ["GET", "POST", "DELETE"]) {
    expect((await fetch(`${base}/problems/nope`, { method })).status).toBe(404);
  }
  expect((await fetch(`${base}/problems/invalid-fen`, { method: "POST" })).status).toBe(405);
});
