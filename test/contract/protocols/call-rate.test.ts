import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { callGrpc } from "./call-grpc.ts";

/** An address may make this many calls in a window. Analyses do not reduce this quota. */
const quota = 3;
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { rates: [rateOf("calls", quota, 60, "call")] } }),
  },
  { engines: createEnginesInProcess() },
);

let callers = 0;
const service = "/chess.analysis.v1.AnalysisService";
const mcp = { Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25" };
const message = (method: string, params = {}) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

/** Sends a request and returns the status. Reads the whole body, because otherwise the connection stays open. */
async function statusOf(path: string, init: RequestInit): Promise<number> {
  const answer = await fetch(app.url + path, init);
  await answer.arrayBuffer();
  return answer.status;
}

test.each([
  ["GET", "/engines", undefined, 200, {}],
  ["GET", "/price", undefined, 200, {}],
  ["POST", "/v1/keys", "{}", 200, {}],
  ["GET", "/v1/keys/self", undefined, 401, {}],
  ["DELETE", "/v1/eval", undefined, 405, {}],
  ["POST", `${service}/ListEngines`, "{}", 200, {}],
  ["GET", `${service}/GetPrice?encoding=json&message={}`, undefined, 200, {}],
  ["POST", "/chess.analysis.v1.KeyService/CreateKey", "{}", 200, {}],
  ["POST", `${service}/ListEngines`, "x", 415, { "Content-Type": "text/plain" }],
  ["POST", "/mcp", message("tools/list"), 200, mcp],
  ["POST", "/mcp", message("ping"), 200, mcp],
  ["GET", "/mcp", undefined, 405, mcp],
])(
  "%s %s %s returns %i within the rate limit and 429 above the rate limit",
  async (method, path, body, status, more) => {
    const headers = {
      "X-Forwarded-For": `203.0.113.${++callers}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...more,
    };
    const send = () => fetch(app.url + path, { method, headers, ...(body !== undefined && { body }) });
    for (let call = 0; call < quota; call++) {
      const answer = await send();
      expect([answer.status, answer.headers.get("ratelimit")], await answer.text()).toEqual([status, null]);
    }
    const refused = await send();
    const text = await refused.text();
    expect(refused.status, text).toBe(429);
    expect(text).toMatch(/rate_limited|resource_exhausted/);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(refused.headers.get("ratelimit")).toMatch(/^"calls";r=0;t=\d+$/);
    // The quota does not apply to another address, and not to analyses, probes and pages.
    expect(await statusOf("/price", { headers: { "X-Forwarded-For": `198.51.100.${callers}` } })).toBe(200);
    const free = { headers: { "X-Forwarded-For": headers["X-Forwarded-For"] } };
    for (const page of ["/healthz", "/readyz", "/", "/openapi.json", "/docs", "/llms.txt"]) {
      expect(await statusOf(page, free), page).toBe(200);
    }
  },
);

test("a gRPC call above the rate limit fails with RESOURCE_EXHAUSTED", async () => {
  const sent = { "content-type": "application/grpc", "x-forwarded-for": "203.0.113.200" };
  const statuses: unknown[] = [];
  for (let call = 0; call <= quota; call++) {
    const { headers, trailers } = await callGrpc(app.url, "GetPrice", Buffer.alloc(5), sent);
    statuses.push(trailers["grpc-status"] ?? headers["grpc-status"]);
  }
  expect(statuses).toEqual(["0", "0", "0", "8"]);
});

test("an MCP tool can be called more often than the rate limit for other calls allows", async () => {
  const headers = { "X-Forwarded-For": "203.0.113.201", "Content-Type": "application/json", ...mcp };
  const body = message("tools/call", { name: "play_moves", arguments: { moves: ["e4"] } });
  for (let call = 0; call < 2 * quota; call++) {
    expect(await statusOf("/mcp", { method: "POST", headers, body })).toBe(200);
  }
});
