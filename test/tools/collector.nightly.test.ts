import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { heads } from "../contract/protocols/heads.ts";
import { freePort } from "../support/free-port.ts";
import { describeWith } from "../support/needs.ts";
import { serve } from "../support/served.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { goToolFile } from "./go-tools.ts";

/** A span in the OTLP JSON that the collector forwards. */
interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly { readonly key: string; readonly value: object }[];
}

interface Collected {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

const folder = useTemporaryFolder();

/** Starts a real collector, and a server that receives what the collector forwards. */
async function startCollector() {
  const collected: Collected[] = [];
  const taker = createServer(async (req, res) => {
    collected.push((await json(req)) as Collected);
    res.setHeader("Content-Type", "application/json").end("{}");
  }).listen(0, "127.0.0.1");
  await once(taker, "listening");
  onTestFinished(() => {
    taker.closeAllConnections();
    taker.close();
  });
  const port = await freePort();
  const config = join(folder, "collector.json");
  const exporter = {
    endpoint: `http://127.0.0.1:${(taker.address() as AddressInfo).port}`,
    encoding: "json",
    compression: "none",
  };
  writeFileSync(
    config,
    JSON.stringify({
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { otlp_http: exporter },
      service: {
        telemetry: { metrics: { level: "none" } },
        pipelines: { traces: { receivers: ["otlp"], exporters: ["otlp_http"] } },
      },
    }),
  );
  const child = spawn(goToolFile("otelcol"), [`--config=${config}`], { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (part) => {
    said += part;
  });
  await expect.poll(() => said, { timeout: 60_000 }).toContain("Everything is ready");
  return {
    url: `http://127.0.0.1:${port}`,
    resources: () => collected.flatMap(({ resourceSpans }) => resourceSpans.map(({ resource }) => resource)),
    spans: () =>
      collected.flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
  };
}

describeWith("otelcol")("an OpenTelemetry Collector", () => {
  test("an OpenTelemetry Collector receives the complete trace of a call over every protocol", async () => {
    const collector = await startCollector();
    const server = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: "kibitz-of-the-test",
      OTEL_BSP_SCHEDULE_DELAY: "100",
    });
    const traces = heads.map(({ name, ask }, index) => ({
      name,
      ask,
      traceId: (index + 1).toString(16).padStart(32, "c"),
    }));
    for (const [index, { ask, traceId }] of traces.entries()) {
      const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
      await ask(server.url, { fen: "startpos", depth: index + 2 }, { traceparent, tracestate: "other=1" });
    }
    expect(await server.stop()).toBe(0);
    const spans = collector.spans();
    const idOf = new Map(spans.map(({ spanId, name }) => [spanId, name]));
    for (const { name, traceId } of traces) {
      const own = spans.filter((span) => span.traceId === traceId);
      const request = own.find(({ parentSpanId }) => parentSpanId === "b7ad6b7169203331");
      expect(request?.name, name).toMatch(/^(POST \/v1\/|chess\.analysis\.v1\.AnalysisService\/)/);
      expect([request?.kind, request?.traceState], name).toEqual([spanKindServer, "other=1"]);
      const below = own
        .filter((span) => span !== request)
        .map((span) => [span.name, idOf.get(span.parentSpanId ?? "")] as const);
      expect(Object.fromEntries(below), name).toEqual({
        "cache memory": request?.name,
        search: request?.name,
        queue: "search",
        "engine search": "search",
      });
      for (const { startTimeUnixNano, endTimeUnixNano } of own) {
        expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
      }
    }
    expect(collector.resources()[0]?.attributes).toContainEqual({
      key: "service.name",
      value: { stringValue: "kibitz-of-the-test" },
    });
  });
});

const spanKindServer = 2;
