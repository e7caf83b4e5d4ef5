import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { oldMessage, send } from "../protocols/mcp/messages.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { useApp } from "../support/running-app.ts";

const metrics = createMetrics("1.2.3");
const app = useApp(
  { KIBITZ_ACCESS: "public", KIBITZ_SLOTS: "1" },
  { metrics, engines: createEnginesInProcess() },
);
const request = { fen: "startpos", depth: 2 };

function post(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  return fetch(app.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  }).then((response) => response.text());
}

async function counted(family: string): Promise<readonly string[]> {
  const lines = (await metrics.print()).split("\n");
  return lines.filter((line) => line.startsWith(`${family}{`)).map((line) => line.slice(family.length));
}

beforeAll(async () => {
  await post("/v1/eval", request);
  await post("/v1/eval", request);
  await post("/v1/eval/stream", request);
  await post("/v1/eval/batch", { requests: [request, { ...request, fen: "nonsense" }] });
  await post("/v1/review", { pgn: "1. e4 e5", depth: 1 });
  await post("/v1/eval", { ...request, depth: 30 });
  await post("/v1/eval", { ...request, fen: "nonsense" });
  await post("/v1/eval", request, { Authorization: "Bearer nonsense" });
  await post("/v1/nowhere", request);
  await send(
    app.url,
    oldMessage("tools/call", { name: "play_moves", arguments: { fen: "startpos", moves: ["e4"] } }),
  );
  for (const createTransport of [createConnectTransport, createGrpcTransport, createGrpcWebTransport]) {
    const client = createClient(AnalysisService, createTransport({ baseUrl: app.url, httpVersion: "2" }));
    await client.evaluate(request);
    await client.evaluate({ ...request, fen: "nonsense" }).catch(() => {});
  }
});

describe("metrics of a service", () => {
  test("metrics count each call once, by protocol and result code", async () => {
    expect([...(await counted("kibitz_requests_total"))].toSorted()).toEqual(
      [
        '{protocol="connect",method="Evaluate",code="invalid_fen"} 1',
        '{protocol="connect",method="Evaluate",code="ok"} 1',
        '{protocol="grpc",method="Evaluate",code="invalid_fen"} 1',
        '{protocol="grpc",method="Evaluate",code="ok"} 1',
        '{protocol="grpc-web",method="Evaluate",code="invalid_fen"} 1',
        '{protocol="grpc-web",method="Evaluate",code="ok"} 1',
        '{protocol="json",method="Evaluate",code="upgrade_needed"} 1',
        '{protocol="json",method="Evaluate",code="invalid_fen"} 1',
        '{protocol="json",method="Evaluate",code="ok"} 2',
        '{protocol="json",method="EvaluateBatch",code="ok"} 1',
        '{protocol="json",method="ReviewGame",code="ok"} 1',
        '{protocol="json",method="StreamEvaluate",code="ok"} 1',
        '{protocol="json",method="none",code="invalid_api_key"} 1',
        '{protocol="json",method="none",code="not_found"} 1',
        '{protocol="mcp",method="PlayMoves",code="ok"} 1',
      ].toSorted(),
    );
  });

  test("metrics count refusals by their error code", async () => {
    expect([...(await counted("kibitz_refusals_total"))].toSorted()).toEqual([
      '{code="invalid_api_key"} 1',
      '{code="invalid_fen"} 4',
      '{code="not_found"} 1',
      '{code="upgrade_needed"} 1',
    ]);
  });

  test("metrics count searches and cache hits", async () => {
    expect(await counted("kibitz_searches_total")).toEqual([
      expect.stringMatching(/^\{path="wasm",ended_by="depth"\} \d$/),
    ]);
    expect(await counted("kibitz_cache_hits_total")).toEqual(['{tier="memory"} 6']);
  });

  test("metrics contain the number of slots and the state of the engines", async () => {
    expect(await metrics.print()).toMatch(/^kibitz_slots 1$/m);
    const engine = 'engine="stockfish-19-lite",path="wasm"';
    expect(await counted("kibitz_engines")).toEqual([`{${engine},state="idle"} 1`]);
    expect(await counted("kibitz_engine_starts_total")).toEqual([`{${engine}} 1`]);
    expect(await counted("kibitz_engine_available")).toContain(`{${engine}} 1`);
  });

  test("no label of a metric contains text from a caller", async () => {
    const text = "nobody-knows-this";
    const agent = oldMessage("tools/call", { name: text, arguments: { [text]: text } });
    await Promise.all([
      post(`/${text}`, {}),
      post(`/chess.analysis.v1.AnalysisService/${text}`, {}, { "Content-Type": "application/grpc" }),
      post("/v1/eval", { ...request, engine: text }),
      post("/v1/eval", request, { Authorization: `Bearer ${text}` }),
      send(app.url, agent),
      send(app.url, oldMessage(text, {})),
    ]);
    const all = await metrics.print();
    expect(all).toContain('code="unknown_engine"');
    expect(all).not.toContain(text);
  });
});
