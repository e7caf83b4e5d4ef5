import { request } from "node:http";
import { connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { Code, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { newMessage, oldMessage } from "../../protocols/mcp/messages.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { createClients, type DynamicClient } from "./clients/grpc-js.ts";
import { watchWork } from "./watch-work.ts";

const engines = createEnginesInProcess();
const { expectWork, expectNoWork } = watchWork(engines);
// One slot: the next search must wait until the engine is free.
const app = useApp({ KIBITZ_SLOTS: "1", KIBITZ_CACHE_MB: "0" }, { engines });

/** The search runs for about a minute if the caller does not disconnect. */
const long = { fen: startFen, depth: 30 };
const deadlineMs = 300;

function abortDuringSearch(): AbortSignal {
  const leaving = new AbortController();
  void expectWork().then(() => leaving.abort(new Error("left")));
  return leaving.signal;
}

async function expectFreeEngine(): Promise<void> {
  await expectNoWork();
  const answer = await fetch(`${app.url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ fen: startFen, depth: 4 }),
  });
  expect(answer.status).toBe(200);
}

describe("a client that disconnects during a search", () => {
  test("the engine is free after a client of plain JSON has disconnected", async () => {
    const left = fetch(`${app.url}/v1/eval`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(long),
      signal: abortDuringSearch(),
    });
    await expect(left).rejects.toThrow("left");
    await expectFreeEngine();
  });

  test("a client of HTTP/1.1 that half-closes its connection after its request gets no response, and the engine is free", async () => {
    const body = JSON.stringify(long);
    const socket = connectTcp({
      port: Number(new URL(app.url).port),
      host: "127.0.0.1",
      allowHalfOpen: true,
    });
    socket.write(
      `POST /v1/eval HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Request-Id: half-closed\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await expectWork();
    socket.end();
    expect(await text(socket)).toBe("");
    await expectFreeEngine();
    const lines = app.logged.filter((line) => (line as { requestId?: string }).requestId === "half-closed");
    expect(lines).toMatchObject([{ method: "Evaluate", code: "canceled" }]);
  });

  test.each([
    ["an agent of 2026", newMessage],
    ["an agent of 2025", oldMessage],
  ])("the engine is free after %s has disconnected", async (_, message) => {
    const { headers, body } = message("tools/call", {
      name: "analyze_position",
      arguments: { depth: long.depth },
    });
    const left = fetch(`${app.url}/mcp`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: abortDuringSearch(),
    }).then((answer) => answer.text());
    await expect(left).rejects.toThrow("left");
    await expectFreeEngine();
  });

  test.each<[string, (baseUrl: string, sessionManager: Http2SessionManager) => Transport]>([
    ["Connect over HTTP/1.1", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
    [
      "Connect over HTTP/2",
      (baseUrl, sessionManager) => createConnectTransport({ baseUrl, httpVersion: "2", sessionManager }),
    ],
    ["gRPC", (baseUrl, sessionManager) => createGrpcTransport({ baseUrl, sessionManager })],
    ["gRPC-Web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  ])("the engine is free after a client over %s has disconnected", async (_, open) => {
    const sessions = new Http2SessionManager(app.url);
    onTestFinished(() => sessions.abort());
    const client = createClient(AnalysisService, open(app.url, sessions));
    const left = client.evaluate(long, { signal: abortDuringSearch() });
    await expect(left).rejects.toMatchObject({ code: Code.Canceled });
    await expectFreeEngine();
  });
});

describe("a client that disconnects before the end of its body", () => {
  const headers = { ":method": "POST", ":path": "/chess.analysis.v1.AnalysisService/StreamEvaluate" };
  let callers = 0;

  /** Creates a header with a unique request id, and a function that expects one log line for this request. */
  function marked() {
    const requestId = `left-while-sending-${++callers}`;
    const lines = () =>
      app.logged.filter((line) => (line as { readonly requestId?: string }).requestId === requestId);
    return {
      headers: { "x-request-id": requestId },
      async expectLine(protocol: string) {
        await vi.waitFor(() => expect(lines()).not.toEqual([]), patienceMs);
        expect(lines()).toMatchObject([{ message: "call", protocol, code: "canceled" }]);
      },
    };
  }

  test.each([
    ["application/connect+json", "connect"],
    ["application/grpc+proto", "grpc"],
    ["application/grpc-web+proto", "grpc-web"],
  ])(
    "a request with %s over HTTP/2 is logged once as canceled if the client disconnects before the end of the body",
    async (type, protocol) => {
      const client = connect(app.url);
      client.on("error", () => {});
      const { headers: mark, expectLine } = marked();
      const stream = client.request({ ...headers, ...mark, "content-type": type }, { endStream: false });
      stream.on("error", () => {});
      stream.write(Buffer.of(0, 0, 0, 1, 0));
      await new Promise((resolve) => setTimeout(resolve, 100));
      client.destroy();
      await expectLine(protocol);
    },
  );

  test.each([
    ["application/connect+json", "connect"],
    ["application/json", "connect"],
    ["application/grpc-web+proto", "grpc-web"],
  ])(
    "a request with %s over HTTP/1.1 is logged once as canceled if the client disconnects before the end of the body",
    async (type, protocol) => {
      const { headers: mark, expectLine } = marked();
      const call = type === "application/json" ? "Evaluate" : "StreamEvaluate";
      const leaving = request(`${app.url}/chess.analysis.v1.AnalysisService/${call}`, {
        method: "POST",
        headers: { "Content-Type": type, "Content-Length": "1000", ...mark },
      });
      leaving.on("error", () => {});
      leaving.write(Buffer.of(0, 0, 0, 1, 0));
      await new Promise((resolve) => setTimeout(resolve, 100));
      leaving.destroy();
      await expectLine(protocol);
    },
  );
});

describe("a deadline ends the search and frees the engine", () => {
  test("a search ends at Connect-Timeout-Ms with a complete error response, and the engine is free", async () => {
    const answer = await fetch(`${app.url}/chess.analysis.v1.AnalysisService/Evaluate`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Connect-Timeout-Ms": String(deadlineMs) },
      body: JSON.stringify(long),
    });
    expect(answer.status).toBe(504);
    expect(await answer.json()).toMatchObject({
      code: "deadline_exceeded",
      details: [
        {
          type: "google.rpc.ErrorInfo",
          debug: {
            domain: "kibitz",
            reason: "DEADLINE_EXCEEDED",
            metadata: { code: "deadline_exceeded", next_action: "reduce_limits" },
          },
        },
        { type: "chess.analysis.v1.Problem", debug: { status: 504, code: "deadline_exceeded" } },
      ],
    });
    await expectFreeEngine();
  });
});

describe("grpc-js over plaintext", () => {
  let client: DynamicClient;
  beforeAll(() => {
    client = createClients(app.url).analysis;
  });
  afterAll(() => client.close());

  test("a deadline of grpc-js ends a search with DEADLINE_EXCEEDED and frees the engine", async () => {
    const failure = Promise.withResolvers<{ code: number }>();
    client.evaluate(long, { deadline: Date.now() + deadlineMs }, failure.resolve);
    expect((await failure.promise).code).toBe(status.DEADLINE_EXCEEDED);
    await expectFreeEngine();
  });
});
