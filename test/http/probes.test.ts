import { expect, test } from "vitest";
import { createProbes } from "../../src/http/pages/probes.ts";
import { createProblemPages } from "../../src/http/pages/problems.ts";
import { exchange } from "../support/raw-http.ts";
import { startListener } from "./start-listener.ts";

test("/healthz gets 200 even if the server is not ready", async () => {
  const { base } = await startListener([createProbes({ ready: () => false, draining: () => true })]);
  const answer = await fetch(`${base}/healthz`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(await answer.json()).toEqual({ status: "ok" });
});

test.each([
  { ready: false, draining: false, status: 503, body: { code: "starting", retryable: true } },
  { ready: true, draining: false, status: 200, body: { status: "ready" } },
  { ready: true, draining: true, status: 503, body: { code: "shutting_down", retryable: true } },
])("/readyz gets $status if ready is $ready and draining is $draining", async (state) => {
  const probes = createProbes({ ready: () => state.ready, draining: () => state.draining });
  const { base } = await startListener([probes]);
  const answer = await fetch(`${base}/readyz`);
  expect(answer.status).toBe(state.status);
  expect(await answer.json()).toMatchObject(state.body);
  expect(answer.headers.get("retry-after")).toBe(state.status === 503 ? "1" : null);
});

test("/readyz of a ready server names the degraded parts", async () => {
  const degraded: string[] = [];
  const probes = createProbes({ ready: () => true, draining: () => false, degraded: () => degraded });
  const { base } = await startListener([probes]);
  const body = async () => (await fetch(`${base}/readyz`)).text();
  expect(await body()).toBe('{"status":"ready"}\n');
  degraded.push("store");
  expect(await body()).toBe('{"status":"ready","degraded":["store"]}\n');
});

test("the text at / shows the host of an absolute request target, and no cache may store the text", async () => {
  const { port } = await startListener();
  const answer = await exchange(
    port,
    "GET http://evil.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  );
  expect(answer).toContain("curl http://evil.example/v1/eval");
  expect(answer).toContain("\r\nCache-Control: no-store\r\n");
});

test.each(["/", "/healthz", "/readyz", "/problems", "/problems/internal", "/nothing"])(
  "browsers must not guess the content type of %s",
  async (path) => {
    const probes = createProbes({ ready: () => true, draining: () => false });
    const { base } = await startListener([probes, createProblemPages()]);
    const { headers } = await fetch(base + path, { headers: { accept: "text/html" } });
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  },
);

test("GET / shows an example request with the host name that the client used", async () => {
  const { base } = await startListener();
  const answer = await fetch(base);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await answer.text()).toContain(`curl ${base}/v1/eval`);
});

test.each(["$(reboot)", "a'b", ";x", "`x`"])(
  "GET / does not show the host name %s of a request",
  async (host) => {
    const { port } = await startListener();
    const answer = await exchange(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 [24]00 /);
    expect(answer).not.toContain(host);
  },
);
