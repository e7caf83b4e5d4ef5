import { describe, expect, test } from "vitest";
import { http2Get } from "../http/http2-get.ts";
import { envelope, matedFen, rpcOf } from "./calls.ts";
import { startFen, useService } from "./started-service.ts";

const service = useService();

describe("24: what the contract promises is answered with 200", () => {
  test.each([
    "/",
    "/healthz",
    "/readyz",
    "/engines",
    "/v1/engines",
    "/price",
    "/v1/price",
    "/problems",
    "/problems/invalid-fen",
  ])("GET %s", async (path) => {
    expect((await service.get(path)).status).toBe(200);
    expect((await http2Get(service.url, { ":path": path })).status).toBe(200);
  });

  test.each([
    { fen: startFen },
    { fen: startFen, depth: 8, multipv: 3 },
    { fen: startFen, movetime_ms: 50 },
    { fen: startFen, depth: 4, engine: "latest", path: "auto", options: { skill_level: 5 } },
    { fen: startFen, depth: 4, engine: "stockfish-19-lite", path: "wasm", options: {} },
    { fen: startFen, depth: 4, moves: ["e4", "e7e5"] },
    { fen: matedFen },
  ])("POST /v1/eval and /v1/bestmove: %o", async (request) => {
    for (const path of ["/v1/eval", "/v1/bestmove"]) {
      const { status, body } = await service.post(path, request);
      expect(status, body).toBe(200);
      const answer = JSON.parse(body);
      expect(answer.best_move === null).toBe(answer.terminal !== null);
      expect(answer.engine?.id).toBe(answer.terminal ? undefined : "stockfish-19-lite");
    }
  });

  test("streams, batches and RPCs", async () => {
    const request = { fen: startFen, depth: 5 };
    const framed = envelope(Buffer.from(JSON.stringify(request)));
    const streamed = await service.post("/v1/eval/stream", request);
    expect(streamed.body).toMatch(/event: evaluation[\s\S]*event: done/);
    const batch = await service.post("/v1/eval/batch", { requests: [request, { fen: matedFen }] });
    expect(JSON.parse(batch.body)).toMatchObject([{ problem: null }, { problem: null }]);
    expect((await service.post(rpcOf("Evaluate"), request)).status).toBe(200);
    const web = await service.post(rpcOf("Evaluate"), framed, {
      "Content-Type": "application/grpc-web+json",
    });
    expect(web.body).toContain("grpc-status: 0");
    const connect = await service.post(rpcOf("StreamEvaluate"), framed, {
      "Content-Type": "application/connect+json",
    });
    expect(connect.body).toContain("bestMove");
  });
});
