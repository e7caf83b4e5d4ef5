import { describe, expect, test } from "vitest";
import { http2Get } from "../../http/http2-get.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { get, post } from "./post.ts";
import type { Plain } from "./protocol.ts";

const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess() });

const service = "/chess.analysis.v1.AnalysisService";

function pathOf(call: "Evaluate" | "FindBestMove", request: Plain): string {
  return `${service}/${call}?connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify(request))}`;
}

const ask = (call: "Evaluate" | "FindBestMove", request: Plain, headers: Record<string, string> = {}) =>
  fetch(app.url + pathOf(call, request), { headers });

const left = (headers: Headers) => Number(/;r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);

describe.each(["Evaluate", "FindBestMove"] as const)("%s by GET", (call) => {
  const request = { fen: startFen, depth: 6 };

  test(`${call} by GET allows caches to store the answer and requires revalidation`, async () => {
    const { status, headers } = await ask(call, request);
    expect(status).toBe(200);
    expect(headers.get("etag")).toMatch(/^W\/"[\w-]{22}"$/);
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("vary")).toBe("Origin, Authorization, Accept-Encoding");
  });

  test(`${call} by GET returns 304 if the client already has the answer, and counts one request`, async () => {
    const first = await ask(call, request);
    const etag = first.headers.get("etag") ?? "";
    const second = await ask(call, request, { "If-None-Match": `"other", ${etag}` });
    expect(second.status).toBe(304);
    expect(await second.text()).toBe("");
    expect(second.headers.get("content-type")).toBeNull();
    expect(second.headers.get("etag")).toBe(etag);
    expect(second.headers.get("cache-control")).toBe("private, no-cache");
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(left(second.headers)).toBe(left(first.headers) - 1);
  });

  test(`${call} by GET returns 304 over HTTP/2`, async () => {
    const etag = (await ask(call, request)).headers.get("etag") ?? "";
    const asked = { ":path": pathOf(call, request), "if-none-match": etag };
    expect(await http2Get(app.url, asked)).toMatchObject({ status: 304, body: "", headers: { etag } });
  });

  test(`${call} by GET returns the same ETag for a searched, cached or compressed answer`, async () => {
    const fresh = { fen: startFen, depth: 4, multipv: call === "Evaluate" ? 2 : 3 };
    const answers = [
      await ask(call, fresh),
      await ask(call, fresh),
      await ask(call, fresh, { "Accept-Encoding": "gzip" }),
    ];
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as Plain[];
    expect(bodies.map(({ search }) => (search as Plain).cached ?? false)).toEqual([false, true, true]);
    expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(1);
  });

  test(`${call} by GET allows caches to store an answer of a search with a node limit`, async () => {
    const request = { fen: startFen, nodes: 200, searchMoves: ["e4"] };
    const first = await ask(call, request);
    expect(first.headers.get("etag")).toMatch(/^W\//);
    const again = await ask(call, request, { "If-None-Match": first.headers.get("etag") ?? "" });
    expect(again.status).toBe(304);
  });

  test(`${call} by GET returns different ETags for different answers`, async () => {
    const etags = [
      { fen: startFen, depth: 6 },
      { fen: startFen, depth: 6, searchMoves: ["e4"] },
      { fen: startFen, nodes: 200 },
      { fen: startFen, depth: 5 },
      { fen: startFen, depth: 6, multipv: 2 },
      { fen: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", depth: 6 },
    ].map(async (each) => (await ask(call, each)).headers.get("etag"));
    expect(new Set(await Promise.all(etags)).size).toBe(6);
  });

  test(`${call} by GET allows caches to store an answer about a finished game`, async () => {
    const mated = await ask(call, { fen: "4R1k1/5ppp/8/8/8/8/5PPP/6K1 b - - 1 1" });
    expect(mated.headers.get("etag")).toMatch(/^W\//);
  });

  test.each([
    ["ended by the time limit", { fen: startFen, depth: 30, movetimeMs: 50 }],
    [
      "ended by the time limit before the node limit",
      { fen: startFen, depth: 30, movetimeMs: 50, nodes: 2_000_000 },
    ],
    ["from an engine with limited strength", { fen: startFen, depth: 2, options: { skill_level: 3 } }],
  ])(`${call} by GET does not allow caches to store an answer that is %s`, async (_, unsure) => {
    const { depth } = unsure;
    const { status, headers } = await ask(
      call,
      { ...unsure, depth: Math.min(depth, 20) },
      { "If-None-Match": "*" },
    );
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBeNull();
  });

  test(`${call} by GET does not allow caches to store errors`, async () => {
    const { status, headers } = await ask(call, { fen: "nonsense" }, { "If-None-Match": "*" });
    expect(status).toBe(400);
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe.each(["/engines", "/v1/engines", "/price", "/price?depth=20"])("GET %s", (path) => {
  test(`GET ${path} returns 304 if the client already has the answer`, async () => {
    const first = await get(app.url + path);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect(first.headers.get("vary")).toBe("Origin, Authorization");
    for (const method of ["GET", "HEAD"]) {
      const again = await fetch(app.url + path, { method, headers: { "If-None-Match": etag } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe("");
    }
    const changed = await fetch(app.url + path, { headers: { "If-None-Match": '"older"' } });
    expect(changed.status).toBe(200);
    await changed.text();
  });
});

test("the description of a key and the answer to a POST have headers that forbid caching", async () => {
  const { body } = await post(`${app.url}/v1/keys`, {});
  const self = await get(`${app.url}/v1/keys/self`, { headers: { Authorization: `Bearer ${body.key}` } });
  expect(self.headers.get("cache-control")).toBe("no-store");
  const { headers } = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 2 });
  expect([headers.get("cache-control"), headers.get("etag"), headers.get("vary")]).toEqual([
    "no-store",
    null,
    null,
  ]);
});
