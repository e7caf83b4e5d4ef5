import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { callGrpc, enveloped } from "./call-grpc.ts";
import { startFen } from "./cases/case.ts";

const app = useApp(
  { KIBITZ_LOG_ADDRESSES: "truncated", KIBITZ_TRUST_PROXY: "127.0.0.1" },
  { engines: createEnginesInProcess() },
);
const rpc = "/chess.analysis.v1.AnalysisService";

/** Waits until the call is logged, and returns all log lines with this request id. */
async function linesOf(requestId: string): Promise<readonly object[]> {
  const find = () => app.logged.filter((line) => (line as { requestId?: string }).requestId === requestId);
  await vi.waitFor(() => expect(find()).not.toEqual([]), patienceMs);
  await sleep(50);
  return find();
}

const json = { "Content-Type": "application/json" };
const ndjson = JSON.stringify({ fen: startFen, depth: 1 });

type Refused = [name: string, path: string, init: RequestInit, code: string, protocol: string];
const refused: readonly Refused[] = [
  ["broken JSON", "/v1/eval", { method: "POST", headers: json, body: "{bad" }, "malformed_json", "json"],
  [
    "an unknown field",
    "/v1/eval",
    { method: "POST", headers: json, body: '{"fen":"x","x":1}' },
    "unknown_field",
    "json",
  ],
  [
    "no JSON",
    "/v1/eval",
    { method: "POST", headers: { "Content-Type": "text/plain" }, body: ndjson },
    "unsupported_media_type",
    "json",
  ],
  ["an unknown path", "/v1/evil", { method: "POST", headers: json, body: ndjson }, "not_found", "json"],
  [
    "an unknown method",
    "/v1/eval",
    { method: "PUT", headers: json, body: ndjson },
    "method_not_allowed",
    "json",
  ],
  [
    "an unsupported type in Accept",
    "/v1/eval",
    { method: "POST", headers: { ...json, Accept: "image/png" }, body: ndjson },
    "not_acceptable",
    "json",
  ],
  [
    "broken JSON to Connect",
    `${rpc}/Evaluate`,
    { method: "POST", headers: json, body: "{bad" },
    "malformed_json",
    "connect",
  ],
  [
    "an unknown field to Connect",
    `${rpc}/Evaluate`,
    { method: "POST", headers: json, body: '{"fen":"x","x":1}' },
    "unknown_field",
    "connect",
  ],
  [
    "an unsupported content type",
    `${rpc}/Evaluate`,
    { method: "POST", headers: { "Content-Type": "text/plain" }, body: ndjson },
    "unsupported_media_type",
    "connect",
  ],
  [
    "an unknown RPC",
    `${rpc}/Devaluate`,
    { method: "POST", headers: json, body: ndjson },
    "unimplemented",
    "connect",
  ],
];

describe("a refusal before the call", () => {
  test.each(refused)(
    "a request that is refused before its call runs is logged once: %s",
    async (name, path, init, code, protocol) => {
      const requestId = `refused-${name.replaceAll(/\W/g, "-")}`;
      const headers = { ...init.headers, "X-Request-Id": requestId, "X-Forwarded-For": "203.0.113.7" };
      const response = await fetch(app.url + path, { ...init, headers });
      await response.arrayBuffer();
      expect(await linesOf(requestId)).toEqual([
        {
          message: "call",
          requestId,
          protocol,
          method: init.method,
          request: path,
          code,
          ms: expect.any(Number),
          address: "203.0.113.0/24",
        },
      ]);
    },
  );

  test.each(["Evaluate", "StreamEvaluate"])(
    "a refused gRPC call to %s with an unknown field is logged once",
    async (call) => {
      const requestId = `grpc-${call}`;
      await callGrpc(app.url, call, enveloped({ fen: startFen, x: 1 }), { "x-request-id": requestId });
      expect(await linesOf(requestId)).toMatchObject([
        { message: "call", protocol: "grpc", code: "unknown_field", address: "127.0.0.0/24" },
      ]);
    },
  );
});

test.each(["/v1/eval", "/v1/eval/stream", `${rpc}/Evaluate`])(
  "a call to %s with a malformed chunked body is logged once with its request id",
  async (path) => {
    const requestId = `broken-${path.replaceAll("/", "-")}`;
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Request-Id: ${requestId}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
    );
    // A slow client: the server receives the headers before the invalid part of the body.
    await sleep(100);
    socket.write("zz\r\n");
    const answer = await text(socket);
    expect(answer).toContain(`X-Request-Id: ${requestId}\r\n`);
    expect(await linesOf(requestId)).toMatchObject([{ message: "call", code: "malformed_http" }]);
  },
);

test.each(["/v1/eval", "/v1/eval/stream", `${rpc}/Evaluate`])(
  "a call to %s with a value out of range is logged once",
  async (path) => {
    const requestId = `rules-${path.replaceAll("/", "-")}`;
    const body = JSON.stringify({ fen: startFen, depth: 99 });
    const headers = { ...json, "X-Request-Id": requestId };
    await (await fetch(app.url + path, { method: "POST", headers, body })).arrayBuffer();
    expect(await linesOf(requestId)).toMatchObject([{ message: "call", code: "out_of_range" }]);
  },
);

test.each(["/v1/eval", "/v1/eval/stream", `${rpc}/Evaluate`])(
  "the log line of %s has the depth, the queue time and the engine time",
  async (path) => {
    const loggedAfterCall = async (requestId: string) => {
      const body = JSON.stringify({ fen: startFen, depth: 3, engine: "stockfish-19-lite" });
      const headers = { ...json, "X-Request-Id": requestId };
      await (await fetch(app.url + path, { method: "POST", headers, body })).arrayBuffer();
      return linesOf(requestId);
    };
    await loggedAfterCall(`first-${path.replaceAll("/", "-")}`);
    expect(await loggedAfterCall(`second-${path.replaceAll("/", "-")}`)).toMatchObject([
      { code: "ok", engine: "stockfish-19-lite", depth: 3, cached: true, queueMs: 0, engineMs: 0 },
    ]);
  },
);

test.each(["/v1/eval", "/v1/eval/stream", `${rpc}/Evaluate`])(
  "the log line of a call to %s with a finished game names no engine",
  async (path) => {
    const requestId = `mated-${path.replaceAll("/", "-")}`;
    const body = JSON.stringify({ fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" });
    await (
      await fetch(app.url + path, { method: "POST", headers: { ...json, "X-Request-Id": requestId }, body })
    ).arrayBuffer();
    const lines = await linesOf(requestId);
    expect(lines).toMatchObject([{ code: "ok", depth: 0, cached: false, queueMs: 0, engineMs: 0 }]);
    expect(lines).toMatchObject([{ engine: undefined }]);
  },
);

test("requests for probes and pages are not logged", async () => {
  const headers = { "X-Request-Id": "probe" };
  for (const path of ["/healthz", "/readyz", "/problems", "/"]) {
    await (await fetch(app.url + path, { headers })).arrayBuffer();
  }
  await (await fetch(`${app.url}/healthz`, { method: "POST", headers })).arrayBuffer();
  await (await fetch(`${app.url}/price`, { headers })).arrayBuffer();
  expect(await linesOf("probe")).toMatchObject([{ method: "GetPrice" }]);
});
