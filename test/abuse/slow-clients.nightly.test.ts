import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { envelope } from "../support/envelope.ts";
import { answersFrom, open, rawRequest } from "../support/raw-http.ts";
import { matedFen, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import {
  type FrameClient,
  flag,
  frame,
  frameType,
  headerBlock,
  openFrames,
  requestFields,
} from "./frames.ts";
import { expectUnharmed, sharedMaxBytes, watchHealth } from "./health-watch.ts";
import { expectEvaluation, useService } from "./started-service.ts";

const service = useService({ KIBITZ_ALLOWED_HOSTS: "x" });

/** The service must disconnect a slow client within this time. The longest timeout of the service is 15 s. */
const slowMaxMs = 35_000;
const dribbleMs = 1000;

interface Slow {
  readonly closed: Promise<unknown>;
  dribble(): void;
  check(): void;
}

const json = "Content-Type: application/json";

async function overHttp1(head: string, piece: string, answered: boolean): Promise<Slow> {
  const { socket, closed, received } = await open(service.port);
  socket.write(head);
  return {
    closed,
    dribble: () => socket.writable && socket.write(piece),
    check() {
      const answers = received() === "" ? [] : answersFrom(received());
      expect(answers.length).toBe(answered ? 1 : 0);
      for (const answer of answers) {
        expectProblem(answer, { status: 408, code: "request_timeout" });
      }
    },
  };
}

async function overHttp2(
  begin: (client: FrameClient) => unknown,
  pieces: Uint8Array,
  status?: number,
): Promise<Slow> {
  const client = await openFrames(service.port);
  await begin(client);
  let sent = 0;
  // The promise resolves when the service closes the stream. The connection may stay open.
  const answered = new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (client.socket.closed || client.frames.some(({ type }) => type === frameType.rstStream)) {
        clearInterval(look);
        resolve();
      }
    }, 50);
  });
  return {
    closed: answered.then(() => client.socket.destroy()),
    dribble: () => void client.send(pieces.subarray(sent % pieces.length, (sent++ % pieces.length) + 1)),
    check() {
      const text = Buffer.concat(client.frames.map(({ payload }) => payload)).toString("latin1");
      expect(text.includes("request_timeout")).toBe(status === 408);
    },
  };
}

const headers = (path: string, type: string) =>
  frame(
    frameType.headers,
    flag.endHeaders,
    1,
    headerBlock(requestFields("POST", path, { "content-type": type })),
  );
const longHeaders = frame(
  frameType.headers,
  flag.endHeaders | flag.endStream,
  1,
  headerBlock(requestFields("GET", "/healthz", { a: "x".repeat(1000) })),
);
const emptyData = frame(frameType.data, 0, 1, Buffer.from(" "));

/** Each key names the part of the request that the client never finishes. */
const kinds: Readonly<Record<string, () => Promise<Slow>>> = {
  "the first byte": () => overHttp1("", "", false),
  "the request line": () => overHttp1("POST /v1/ev", "a", true),
  "the headers": () => overHttp1("POST /v1/eval HTTP/1.1\r\nHost: x\r\nA: ", "b", true),
  "many headers": () => overHttp1("POST /v1/eval HTTP/1.1\r\nHost: x\r\n", "a: b\r\n", true),
  "a body with a length": () =>
    overHttp1(rawRequest("POST /v1/eval", [json, "Content-Length: 1000"]), " ", true),
  "a body in chunks": () =>
    overHttp1(rawRequest("POST /v1/eval", [json, "Transfer-Encoding: chunked"]), "1\r\n \r\n", true),
  "a body that was asked for": () =>
    overHttp1(
      rawRequest("POST /no", [json, "Content-Length: 10"]).replace("/no", "/v1/eval/batch"),
      "",
      true,
    ),
  "the body of an RPC": () =>
    overHttp1(rawRequest(`POST ${rpcOf("Evaluate")}`, [json, "Content-Length: 1000"]), " ", true),
  "the message of an agent": () =>
    overHttp1(rawRequest("POST /mcp", [json, "Content-Length: 1000"]), " ", true),
  "half of the HTTP/2 preface": () => overHttp1("PRI * HTTP/2.0\r\n\r\n", "", false),
  "the first call over HTTP/2": () => overHttp2(() => {}, frame(frameType.ping, 0, 0, Buffer.alloc(8))),
  "headers over HTTP/2": () => overHttp2(() => {}, longHeaders),
  "headers that go on over HTTP/2": () =>
    overHttp2(
      (client) => client.send(frame(frameType.headers, 0, 1, headerBlock(requestFields("GET", "/healthz")))),
      longHeaders,
    ),
  "a body over HTTP/2": () =>
    overHttp2((client) => client.send(headers("/v1/eval", "application/json")), emptyData, 408),
  "a gRPC message": () =>
    overHttp2((client) => client.send(headers(rpcOf("Evaluate"), "application/grpc")), emptyData),
  "a gRPC stream's message": () =>
    overHttp2((client) => client.send(headers(rpcOf("StreamEvaluate"), "application/grpc")), emptyData),
};

/** The client sends a complete message and leaves the stream open. */
const whole: readonly (readonly [path: string, type: string, body: string | Uint8Array])[] = [
  ["/v1/eval", "application/json", JSON.stringify({ fen: matedFen })],
  ["/v1/bestmove", "application/json", JSON.stringify({ fen: matedFen })],
  ["/v1/eval/stream", "application/json", JSON.stringify({ fen: matedFen })],
  ["/v1/eval/batch", "application/json", JSON.stringify({ requests: [{ fen: matedFen }] })],
  ["/v1/review", "application/json", JSON.stringify({ pgn: "1. f3 e5 2. g4 Qh4# 0-1" })],
  ["/v1/keys", "application/json", JSON.stringify({ name: "ghost" })],
  ["/mcp", "application/json", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })],
  [rpcOf("Evaluate"), "application/json", JSON.stringify({ fen: matedFen })],
  [rpcOf("Evaluate"), "application/grpc-web+json", envelope(Buffer.from(JSON.stringify({ fen: matedFen })))],
  [rpcOf("Evaluate"), "application/grpc+json", envelope(Buffer.from(JSON.stringify({ fen: matedFen })))],
  [rpcOf("Evaluate"), "application/grpc", envelope(Buffer.of(0x0a, 1, 0x78))],
  [rpcOf("StreamEvaluate"), "application/grpc", envelope(Buffer.of(0x0a, 1, 0x78))],
  [
    rpcOf("StreamEvaluate"),
    "application/connect+json",
    envelope(Buffer.from(JSON.stringify({ fen: matedFen }))),
  ],
];

// The two tests run concurrently, because each test waits up to 15 s for a timeout.
describe.concurrent("02: slow clients", () => {
  test("a call is refused after 15 s without processing if the client sends its message but never closes the stream", async () => {
    const client = connect(service.url);
    client.on("error", () => {});
    const answers = await Promise.all(
      whole.map(async ([path, type, body], index) => {
        const stream = client.request(
          {
            ":method": "POST",
            ":path": path,
            "content-type": type,
            accept: "application/json, text/event-stream",
            te: "trailers",
            "x-request-id": `ghost-${index}`,
          },
          { endStream: false },
        );
        stream.on("error", () => {});
        stream.write(body);
        const [headers] = await once(stream, "response");
        stream.resume();
        await once(stream, "close");
        return headers as IncomingHttpHeaders & { readonly ":status"?: number };
      }),
    );
    client.destroy();
    // If the service processed a message in spite of the timeout, a log line would appear within this time.
    await sleep(2000);
    for (const [index, [path, type]] of whole.entries()) {
      const lines = service
        .printed()
        .split("\n")
        .filter((line) => line.includes(`"ghost-${index}"`));
      const what = `${type} to ${path}`;
      expect(
        lines.map((line) => JSON.parse(line).code),
        what,
      ).toEqual(["request_timeout"]);
      const answer = answers[index];
      if (type.startsWith("application/grpc")) {
        expect(answer, what).toMatchObject({ ":status": 200, "grpc-status": "4", "content-type": type });
      } else if (!type.includes("connect+")) {
        expect(answer?.[":status"], what).toBe(path.startsWith("/v1") || path === "/mcp" ? 408 : 504);
      }
    }
  }, 60_000);

  test(`80 slow clients of ${Object.keys(kinds).length} kinds are disconnected or get status 408, and do not affect other callers`, async ({
    onTestFinished,
  }) => {
    const stop = await watchHealth(service, undefined, onTestFinished);
    const clients = Object.entries(kinds).flatMap(([kind, begin]) =>
      Array.from({ length: 5 }, () => ({ kind, begin })),
    );
    expect(clients.length).toBeGreaterThanOrEqual(60);
    const outcomes = await Promise.all(
      clients.map(async ({ kind, begin }) => {
        const slow = await begin();
        const dribbling = setInterval(() => slow.dribble(), dribbleMs);
        const late = new Promise((resolve) => setTimeout(resolve, slowMaxMs, "still open"));
        const outcome = await Promise.race([slow.closed.then(() => "closed"), late]);
        clearInterval(dribbling);
        return { kind, outcome, slow };
      }),
    );
    // The service evaluates positions for other callers while the slow clients are connected.
    await expectEvaluation(service.url);
    const health = await stop();
    expect(outcomes.filter(({ outcome }) => outcome !== "closed").map(({ kind }) => kind)).toEqual([]);
    for (const { slow } of outcomes) {
      slow.check();
    }
    expectUnharmed(health, { peakBytes: sharedMaxBytes });
  }, 60_000);
});
