import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { startFen } from "../contract/protocols/cases/case.ts";
import { type HeadsKind, heads } from "../contract/protocols/heads.ts";
import { oldMessage, send } from "../protocols/mcp/messages.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { createTraceContext, shapeOf, spansOf, useKeptSpans } from "../support/kept-spans.ts";
import { patienceMs } from "../support/patience.ts";
import { useApp } from "../support/running-app.ts";

const patient = { timeout: patienceMs };

const kept = useKeptSpans();
const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_SLOTS: "1" }, { engines: createEnginesInProcess() });

const service = "chess.analysis.v1.AnalysisService";
const searched = ["search", "queue", "engine search"] as const;
const calls: Readonly<Record<string, readonly [name: string, status: object]>> = {
  "/v1/eval": ["POST /v1/eval", { "http.response.status_code": 200 }],
  "/v1/bestmove": ["POST /v1/bestmove", { "http.response.status_code": 200 }],
  "server-sent events": ["POST /v1/eval/stream", { "http.response.status_code": 200 }],
  Connect: [`${service}/Evaluate`, { "rpc.system.name": "connectrpc" }],
  "Connect's stream": [`${service}/StreamEvaluate`, { "rpc.system.name": "connectrpc" }],
  gRPC: [`${service}/Evaluate`, { "rpc.system.name": "grpc", "rpc.status_code": "OK" }],
  "gRPC's stream": [`${service}/StreamEvaluate`, { "rpc.system.name": "grpc", "rpc.status_code": "OK" }],
};
const grpcWeb = {
  name: "gRPC-Web",
  async ask(url: string, request: object, headers: Readonly<Record<string, string>> = {}) {
    const client = createClient(
      AnalysisService,
      createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }),
    );
    await client.evaluate({ fen: startFen, ...request }, { headers }).catch(() => {});
  },
};
const grpcWebCall = [`${service}/Evaluate`, { "rpc.system.name": "grpc", "rpc.status_code": "OK" }] as const;
const protocols: readonly {
  readonly name: string;
  ask(...asked: Parameters<HeadsKind["ask"]>): Promise<unknown>;
}[] = [...heads, grpcWeb];
let depth = 1;

describe.each(protocols)("through $name", ({ name, ask }) => {
  const [spanName, status] = calls[name] ?? grpcWebCall;

  test(`the caller's trace of a search over ${name} shows the wait, the engine and the outcome`, async () => {
    const { traceId, headers } = createTraceContext();
    depth++;
    await ask(app.url, { fen: startFen, depth }, headers);
    const tree = await kept.trace(traceId);
    expect(shapeOf(tree)).toEqual([spanName, "cache memory", searched]);
    const { span } = tree;
    expect(span.kind).toBe(SpanKind.SERVER);
    expect(span.parentSpanContext).toMatchObject({ spanId: "b7ad6b7169203331", isRemote: true });
    expect(span.spanContext().traceState?.serialize()).toBe("other=1");
    expect(span.attributes).toMatchObject({
      ...status,
      "kibitz.code": "ok",
      "kibitz.depth": depth,
      "kibitz.cached": false,
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(spansOf(tree).find((each) => each.name === "engine search")?.attributes).toEqual({
      "kibitz.engine": "stockfish-19-lite",
      "kibitz.path": "wasm",
      "kibitz.limit.depth": depth,
      "kibitz.limit.movetime_ms": 5000,
      "kibitz.multipv": 1,
      "kibitz.depth": depth,
      "kibitz.nodes": 20 * depth,
      "kibitz.engine_ms": expect.any(Number),
      "kibitz.ended_by": "depth",
    });
  });

  test(`the trace of a cached answer over ${name} names the cache`, async () => {
    const { traceId, headers } = createTraceContext();
    await ask(app.url, { fen: startFen, depth: 1 }, {});
    await ask(app.url, { fen: startFen, depth: 1 }, headers);
    const tree = await kept.trace(traceId);
    expect(shapeOf(tree)).toEqual([spanName, "cache memory"]);
    expect(tree.below[0]?.span.attributes).toEqual({
      "kibitz.cache.tier": "memory",
      "kibitz.cache.hit": true,
    });
    expect(tree.span.attributes["kibitz.cached"]).toBe(true);
  });

  test(`the trace of a refusal over ${name} has the error code, but is not marked as a server failure`, async () => {
    const { traceId, headers } = createTraceContext();
    await ask(app.url, { fen: startFen, depth: 30 }, headers);
    const { span, below } = await kept.trace(traceId);
    expect([span.name, span.attributes["kibitz.code"], span.status.code, below]).toEqual([
      spanName,
      "upgrade_needed",
      SpanStatusCode.UNSET,
      [],
    ]);
  });

  test(`the trace of a request over ${name} with an unknown API key shows the refusal`, async () => {
    const { traceId, headers } = createTraceContext();
    await ask(app.url, { fen: startFen, depth: 1 }, { ...headers, Authorization: "Bearer nonsense" });
    const { span } = await kept.trace(traceId);
    expect([span.name, span.attributes["kibitz.code"]]).toEqual([spanName, "invalid_api_key"]);
    expect(JSON.stringify(span.attributes)).not.toContain("nonsense");
  });

  test(`the log line of a call over ${name} has the trace id`, async () => {
    const { traceId, headers } = createTraceContext();
    await ask(app.url, { fen: startFen, depth: 1 }, headers);
    const { span } = await kept.trace(traceId);
    const { spanId } = span.spanContext();
    expect(app.logged).toContainEqual(
      expect.objectContaining({ message: "call", trace_id: traceId, span_id: spanId }),
    );
  });

  test(`an invalid traceparent of a call over ${name} is ignored, and a new trace is started`, async () => {
    await ask(app.url, { fen: startFen, depth: 1 }, { traceparent: "00-nonsense-b7ad6b7169203331-01" });
    await expect.poll(() => kept.all.map((span) => span.name), patient).toContain(spanName);
    const span = kept.all.find((each) => each.name === spanName);
    expect(span?.parentSpanContext).toBeUndefined();
  });
});

function post(path: string, body: object, headers: Readonly<Record<string, string>>) {
  return fetch(app.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  }).then((response) => response.text());
}

describe("calls with many searches", () => {
  test("the trace of a batch has a span for each item, with the errors of the item", async () => {
    const { traceId, headers } = createTraceContext();
    const item = { fen: startFen, depth: 12 };
    await post("/v1/eval/batch", { requests: [item, { fen: "nonsense" }] }, headers);
    const tree = await kept.trace(traceId);
    expect(shapeOf(tree)).toEqual([
      "POST /v1/eval/batch",
      ["batch item", "cache memory", searched],
      "batch item",
    ]);
    const facts = tree.below.map(({ span }) => [
      span.attributes["kibitz.index"],
      span.attributes["kibitz.code"],
    ]);
    expect(facts).toEqual([
      [0, "ok"],
      [1, "invalid_fen"],
    ]);
  });

  test.each([
    ["application/json", 15],
    ["application/x-ndjson", 16],
    ["text/event-stream", 17],
  ])("the trace of a review as %s has a span for each position", async (accept, depth) => {
    const { traceId, headers } = createTraceContext();
    const game = { pgn: "1. e4 e5 2. Nf3", depth };
    await post("/v1/review", game, { ...headers, Accept: accept });
    const tree = await kept.trace(traceId);
    expect(shapeOf(tree)).toEqual([
      "POST /v1/review",
      ...[0, 1, 2, 3].map(() => ["position", "cache memory", searched]),
    ]);
    expect(tree.below.map(({ span }) => span.attributes["kibitz.index"])).toEqual([0, 1, 2, 3]);
  });

  test("the trace of an MCP tool has a span for each call that the tool makes", async () => {
    const { traceId, headers } = createTraceContext();
    const message = oldMessage("tools/call", {
      name: "analyze_position",
      arguments: { fen: startFen, depth: 14 },
    });
    await send(app.url, { ...message, headers: { ...message.headers, ...headers } });
    const tree = await kept.trace(traceId);
    expect(tree.span.name).toBe("POST /mcp");
    expect(tree.span.attributes).toMatchObject({ "kibitz.protocol": "mcp", "kibitz.code": "ok" });
    expect(tree.below.map(shapeOf)).toEqual([
      [expect.stringMatching(/^(Stream)?Evaluate$/), "cache memory", searched],
    ]);
  });

  test("the trace of the MCP tool play_moves has a span for the call", async () => {
    const { traceId, headers } = createTraceContext();
    const message = oldMessage("tools/call", {
      name: "play_moves",
      arguments: { fen: startFen, moves: ["e4"] },
    });
    await send(app.url, { ...message, headers: { ...message.headers, ...headers } });
    expect(shapeOf(await kept.trace(traceId))).toEqual(["POST /mcp", "PlayMoves"]);
  });
});

describe("requests that are not calls", () => {
  test.each(["/", "/problems", "/nothing/at-all"])(
    "the span of GET %s does not contain the path, because the path belongs to no API call",
    async (path) => {
      const { traceId, headers } = createTraceContext();
      await fetch(app.url + path, { headers });
      const { span } = await kept.trace(traceId);
      expect(span.name).toBe("GET");
      expect(span.attributes["url.path"]).toBeUndefined();
    },
  );

  test("the span of an unknown RPC method does not contain the method's name", async () => {
    const { traceId, headers } = createTraceContext();
    await fetch(`${app.url}/${service}/Nothing`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/proto" },
    });
    const { span } = await kept.trace(traceId);
    expect([span.name, span.attributes["rpc.method"], span.attributes["error.type"]]).toEqual([
      "connectrpc",
      "_OTHER",
      "unimplemented",
    ]);
  });

  test.each([
    ["probes", "GET", "/healthz", {}],
    [
      "preflights",
      "OPTIONS",
      "/v1/eval",
      { Origin: "https://a.example", "Access-Control-Request-Method": "POST" },
    ],
  ])("requests for %s have no span", async (_, method, path, own) => {
    const { traceId, headers } = createTraceContext();
    const answer = await fetch(app.url + path, { method, headers: { ...headers, ...own } });
    expect(answer.headers.get("traceparent")).toMatch(new RegExp(`^00-${traceId}`));
    await fetch(`${app.url}/`, { headers });
    await expect.poll(() => kept.all.map(({ name }) => name), patient).toEqual(["GET"]);
  });
});

test("spans contain no text from the caller except the trace context", async () => {
  const { traceId, headers } = createTraceContext();
  const secret = "kbz_0123456789abcdefghijklmnopqrstuv";
  const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
  await fetch(`${app.url}/v1/eval?key=${secret}`, {
    method: "POST",
    headers: { ...headers, "User-Agent": "who-is-it", "X-Forwarded-For": "203.0.113.9" },
    body: JSON.stringify({ fen }),
  });
  await post("/v1/eval", { fen, depth: 3 }, headers);
  await post("/v1/eval", { fen, depth: 3 }, { ...headers, Authorization: `Bearer ${secret}` });
  await fetch(`${app.url}/${secret}`, { headers });
  await expect.poll(() => kept.all.filter(({ kind }) => kind === SpanKind.SERVER), patient).toHaveLength(4);
  const recorded = JSON.stringify(
    kept.all.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  );
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  for (const secretText of [secret, "kbz_", "RNBQK2R", "who-is-it", "203.0.113", "127.0.0"]) {
    expect(recorded).not.toContain(secretText);
  }
});
