import { describe, expect, test, vi } from "vitest";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { http2Get } from "../../http/http2-get.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { createTraceContext, useKeptSpans } from "../../support/kept-spans.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";

const metrics = createMetrics("1.2.3");
const spans = useKeptSpans();
const app = useApp({}, { metrics, engines: createEnginesInProcess() });

const message = encodeURIComponent(JSON.stringify({ fen: startFen, depth: 2 }));
const evaluate = `/chess.analysis.v1.AnalysisService/Evaluate?connect=v1&encoding=json&message=${message}`;

interface Sent {
  readonly status: number;
  readonly etag: string;
}

type Send = (method: string, path: string, headers: Record<string, string>) => Promise<Sent>;

const overHttp1: Send = async (method, path, headers) => {
  const answer = await fetch(app.url + path, { method, headers });
  await answer.text();
  return { status: answer.status, etag: answer.headers.get("etag") ?? "" };
};

const overHttp2: Send = async (method, path, headers) => {
  const answer = await http2Get(app.url, { ":method": method, ":path": path, ...headers });
  return { status: answer.status, etag: String(answer.headers.etag ?? "") };
};

async function countOf(method: string): Promise<number> {
  const pattern = new RegExp(
    `^kibitz_requests_total\\{[^}]*method="${method}"[^}]*code="ok"[^}]*\\} (\\d+)$`,
    "gm",
  );
  return [...(await metrics.print()).matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.each([
  ["HTTP/1.1", overHttp1],
  ["HTTP/2", overHttp2],
] as const)("over %s", (version, send) => {
  test.each([
    ["GET", "ListEngines", "/engines"],
    ["HEAD", "ListEngines", "/engines"],
    ["GET", "GetPrice", "/v1/price?depth=20"],
    ["HEAD", "GetPrice", "/v1/price"],
    ["GET", "Evaluate", evaluate],
  ])(
    `%s of %s over ${version} has one log line, one count and one span, with the status 200 or 304`,
    async (method, name, path) => {
      const { etag } = await send("GET", path, {});
      expect(etag).toMatch(/^W\//);
      for (const [status, more] of [
        [200, {}],
        [304, { "if-none-match": etag }],
      ] as const) {
        const before = await countOf(name);
        const { traceId, headers } = createTraceContext();
        const id = `${version === "HTTP/2" ? 2 : 1}-${method}-${name}-${status}`;
        expect((await send(method, path, { ...headers, ...more, "x-request-id": id })).status).toBe(status);
        const linesOf = () => app.logged.filter((line) => (line as { requestId?: string }).requestId === id);
        await vi.waitFor(() => expect(linesOf()).toMatchObject([{ method: name, code: "ok" }]), patienceMs);
        expect(await countOf(name)).toBe(before + 1);
        const { span } = await spans.trace(traceId);
        expect(span.attributes).toMatchObject({ "kibitz.method": name, "kibitz.code": "ok" });
      }
    },
  );
});
