import { connect as connectHttp2 } from "node:http2";
import { describe, expect, test, vi } from "vitest";
import { envelope } from "../support/envelope.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { rowsWith } from "../support/needs.ts";
import { patienceMs } from "../support/patience.ts";
import { open, rawRequest } from "../support/raw-http.ts";
import { ask } from "./ask.ts";
import { rpcOf } from "./calls.ts";
import { cpuMsOf } from "./processes-of.ts";
import { startFen, useService } from "./started-service.ts";

const native = nativeStockfish();
const service = useService({ KIBITZ_NATIVE_ENGINES: native ?? "none", KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

const slots = 2;
const underWayMs = 250;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Leave = (path: string, body: string) => Promise<void>;

const leaveRaw =
  (end: (socket: Awaited<ReturnType<typeof open>>["socket"]) => unknown): Leave =>
  async (path, body) => {
    const { socket } = await open(service.port);
    socket.write(
      rawRequest(`POST ${path}`, ["Content-Type: application/json", `Content-Length: ${body.length}`], body),
    );
    await sleep(underWayMs);
    end(socket);
  };

const leaveHttp2 =
  (how: "stream" | "connection"): Leave =>
  async (path, body) => {
    const client = connectHttp2(service.url);
    client.on("error", () => {});
    const stream = client.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    stream.on("error", () => {});
    stream.end(body);
    await sleep(underWayMs);
    if (how === "stream") {
      stream.close(8);
      await sleep(50);
      client.close();
    } else {
      client.destroy();
    }
  };

const ways: Readonly<Record<string, Leave>> = {
  "by closing the connection": leaveRaw((socket) => socket.destroy()),
  "by a connection reset": leaveRaw((socket) => socket.resetAndDestroy()),
  "by cancelling the HTTP/2 stream": leaveHttp2("stream"),
  "by cutting the HTTP/2 connection": leaveHttp2("connection"),
};

const engines: readonly (readonly [name: string, request: { engine?: string; path: string }])[] = [
  ["the lite network", { engine: "stockfish-19-lite", path: "wasm" }],
  ["the full network", { engine: "stockfish-19", path: "wasm" }],
  ...rowsWith(["native"], ["a native engine", { path: "native" }] as const),
];

/**
 * If the request names no engine, adds an engine that has a native build. The default engine `latest` may have no native build.
 */
async function withEngine(request: {
  engine?: string;
  path: string;
}): Promise<{ engine: string; path: string }> {
  if (request.engine !== undefined) {
    return { engine: request.engine, path: request.path };
  }
  const listed: { id: string; paths: { path: string }[] }[] = JSON.parse(
    (await service.get("/engines")).body,
  ).engines;
  const found = listed.find(({ paths }) => paths.some(({ path }) => path === "native"));
  return { engine: found?.id ?? expect.fail("no native engine"), path: "native" };
}

async function expectEnginesFree(which: { readonly engine: string; readonly path: string }): Promise<void> {
  const answered = service.post("/v1/eval", { fen: startFen, depth: 5, ...which });
  const late = sleep(patienceMs).then(() => expect.fail("no engine is free"));
  expect((await Promise.race([answered, late])).status).toBe(200);
  await expectEnginesIdle();
}

function expectEnginesIdle(): Promise<void> {
  return vi.waitFor(async () => {
    const before = cpuOfEngines();
    await sleep(100);
    expect(cpuOfEngines() - before).toBeLessThan(50);
  }, patienceMs);
}

const cpuOfEngines = () => service.engines().reduce((sum, pid) => sum + cpuMsOf(pid), 0);

// Not every disconnect is tested with every engine: the HTTP server handles the disconnect, and the engine sees only that its
// search is cancelled.
const leaving = [
  ...Object.keys(ways).map((way) => ["the lite network", way]),
  ...engines.slice(1).map(([name]) => [name, "by closing the connection"]),
] as [string, string][];

test.each(leaving)("the engine with %s is free again after its callers disconnect %s", async (name, way) => {
  const [, request] = engines.find((engine) => engine[0] === name) ?? expect.fail(name);
  const leave = ways[way] ?? expect.fail(way);
  const which = await withEngine(request);
  expect((await service.post("/v1/eval", { fen: startFen, depth: 2, ...which })).status).toBe(200);
  for (const call of ["/v1/eval", "/v1/bestmove", "/v1/eval/stream"]) {
    const bodies = Array.from({ length: slots }, (_, index) =>
      JSON.stringify({ fen: startFen, depth: 30 - index, movetime_ms: 60_000, ...which }),
    );
    await Promise.all(bodies.map((body) => leave(call, body)));
    await expectEnginesFree(which);
  }
});

describe("18: deadlines of callers", () => {
  const message = Buffer.from(JSON.stringify({ fen: startFen, depth: 30, movetimeMs: 60_000 }));
  const deadlineMs = 300;

  test.each([
    ["Connect", "application/json", message, { "Connect-Timeout-Ms": String(deadlineMs) }],
    [
      "Connect's stream",
      "application/connect+json",
      envelope(message),
      { "Connect-Timeout-Ms": String(deadlineMs) },
    ],
    ["gRPC-Web", "application/grpc-web+json", envelope(message), { "grpc-timeout": `${deadlineMs}m` }],
    ["gRPC-Web in seconds", "application/grpc-web+json", envelope(message), { "grpc-timeout": "1S" }],
    [
      "gRPC-Web in nanoseconds",
      "application/grpc-web+json",
      envelope(message),
      { "grpc-timeout": "99999999n" },
    ],
  ])(
    "a call over %s ends with deadline_exceeded at its deadline, and frees the engine",
    async (_, type, body, headers) => {
      const call = type.includes("connect+") ? "StreamEvaluate" : "Evaluate";
      const answer = await service.post(rpcOf(call), body, { "Content-Type": type, ...headers });
      expect(JSON.stringify(answer)).toMatch(/deadline_exceeded|grpc-status\\?"?: ?"?4/);
      await expectEnginesIdle();
    },
  );

  test("a gRPC call ends with the status DEADLINE_EXCEEDED (4) at its deadline", async () => {
    const client = connectHttp2(service.url);
    const stream = client.request({
      ":method": "POST",
      ":path": rpcOf("Evaluate"),
      "content-type": "application/grpc+json",
      "grpc-timeout": `${deadlineMs}m`,
      te: "trailers",
    });
    const status = new Promise((resolve) => {
      stream.on("trailers", (headers) => resolve(headers["grpc-status"]));
      stream.on("response", (headers) => headers["grpc-status"] && resolve(headers["grpc-status"]));
    });
    stream.resume().end(envelope(message));
    expect(await status).toBe("4");
    client.destroy();
  });

  const quick = JSON.stringify({ fen: startFen, depth: 2 });

  test.each(["99999999H", "99999999S", "2147483648m"])(
    "a call whose deadline is years ahead is answered: %s",
    async (value) => {
      const far = value.endsWith("m")
        ? { "Connect-Timeout-Ms": value.slice(0, -1) }
        : { "grpc-timeout": value };
      const type = value.endsWith("m") ? "application/json" : "application/grpc-web+json";
      const body = value.endsWith("m") ? quick : envelope(Buffer.from(quick));
      const answer = await service.post(rpcOf("Evaluate"), body, { "Content-Type": type, ...far });
      expect(answer.body).toContain(startFen);
    },
  );

  const unreadable = ["-1", "abc", "1e3", "99999999999", "0x10", " ", "1.5"].map((value) => [value, value]);
  test.each([...unreadable, ["4000 letters", "x".repeat(4000)] as const])(
    "a call with an invalid deadline is refused: %s",
    async (_, value = "") => {
      const answer = await ask(service.url + rpcOf("Evaluate"), {
        method: "POST",
        headers: { "Content-Type": "application/json", "Connect-Timeout-Ms": value },
        body: quick,
      });
      expect([400, ...(value.trim() === "" ? [200] : [])]).toContain(answer.status);
      expect(answer.body).not.toContain("x".repeat(65));
    },
  );

  test.each(["0", "1"])("a call whose deadline has passed is answered with 504: %s", async (value) => {
    const answer = await service.post(rpcOf("Evaluate"), message, { "Connect-Timeout-Ms": value });
    expect(answer.status).toBe(504);
  });
});
