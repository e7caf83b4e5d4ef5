import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope } from "../../support/envelope.ts";
import { newAddress } from "../../support/new-caller.ts";
import { patienceMs } from "../../support/patience.ts";
import { usePlansFile } from "../../support/plans-file.ts";
import { open } from "../../support/raw-http.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";

const engines = createEnginesInProcess({ quickPlies: 10 });
/** Each caller may have one batch or review at a time. */
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { concurrent: 1 } }, { id: "free", limits: {} }),
  },
  { engines },
);

const patience = { timeout: patienceMs };
const port = () => Number(new URL(app.url).port);

const service = "/chess.analysis.v1.AnalysisService";
const batch = JSON.stringify({ requests: [{ fen: startFen, depth: 1 }] });
const review = JSON.stringify({ moves: ["e4", "e5"], depth: 1 });
/** A review that runs until the caller disconnects. */
const slowReview = JSON.stringify({ moves: ["e4", "e5"], depth: 20 });

interface LongCall {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const json = { "content-type": "application/json" };
/** A batch with one empty request, encoded as protobuf. */
const binaryBatch = Buffer.of(0x0a, 0x00);

const longCalls: readonly LongCall[] = [
  { name: "a batch as JSON", path: "/v1/eval/batch", headers: json, body: Buffer.from(batch) },
  {
    name: "a batch as JSON in gzip",
    path: "/v1/eval/batch",
    headers: { ...json, "content-encoding": "gzip" },
    body: gzipSync(batch),
  },
  {
    name: "a batch in lines",
    path: "/v1/eval/batch",
    headers: { ...json, accept: "application/x-ndjson" },
    body: Buffer.from(batch),
  },
  { name: "a review as JSON", path: "/v1/review", headers: json, body: Buffer.from(review) },
  {
    name: "a review in events",
    path: "/v1/review",
    headers: { ...json, accept: "text/event-stream" },
    body: Buffer.from(review),
  },
  {
    name: "a batch over Connect",
    path: `${service}/EvaluateBatch`,
    headers: { "content-type": "application/connect+json" },
    body: envelope(Buffer.from(batch)),
  },
  {
    name: "a batch over gRPC-Web",
    path: `${service}/EvaluateBatch`,
    headers: { "content-type": "application/grpc-web+proto" },
    body: envelope(binaryBatch),
  },
  {
    name: "a batch over gRPC",
    path: `${service}/EvaluateBatch`,
    headers: { "content-type": "application/grpc+proto", te: "trailers" },
    body: envelope(binaryBatch),
  },
  {
    name: "a review over gRPC",
    path: "/chess.analysis.v1.GameService/ReviewGame",
    headers: { "content-type": "application/grpc+proto", te: "trailers" },
    // `moves: ["e4"], depth: 1`
    body: envelope(Buffer.from([0x1a, 2, 0x65, 0x34, 0x20, 1])),
  },
  {
    name: "a review over gRPC in gzip",
    path: "/chess.analysis.v1.GameService/ReviewGame",
    headers: { "content-type": "application/grpc+proto", te: "trailers", "grpc-encoding": "gzip" },
    body: envelope(gzipSync(Buffer.from([0x1a, 2, 0x65, 0x34, 0x20, 1])), 1),
  },
];

function useClient() {
  const client = connect(app.url);
  onTestFinished(() => client.destroy());
  const begin = ({ path, headers }: LongCall, caller: string) =>
    client.request({ ":method": "POST", ":path": path, ...headers, "x-forwarded-for": caller });
  return {
    begin,
    /**
     * Returns the headers, the body and the trailers of the response.
     * @param end whether to send the last byte of the body
     */
    async answerTo(longCall: LongCall, caller: string, end = true): Promise<string> {
      const stream = begin(longCall, caller);
      stream.on("error", () => {});
      let trailers: IncomingHttpHeaders = {};
      stream.on("trailers", (sent) => {
        trailers = sent;
      });
      const head = once(stream, "response");
      if (end) {
        stream.end(longCall.body);
      } else {
        stream.write(longCall.body.subarray(0, -1));
      }
      const [response] = await head;
      const body = await text(stream);
      stream.destroy();
      return JSON.stringify({ response, trailers, body });
    },
  };
}

/** Sends the headers of a batch. The server asks for the body with 100 Continue, but the client never sends the body. */
async function beginBatchWithoutBody(caller: string) {
  const held = await open(port());
  onTestFinished(() => void held.socket.destroy());
  held.socket.write(
    `POST /v1/eval/batch HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${caller}\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  );
  await expect.poll(held.received, patience).toContain("100 Continue");
  return held;
}

const isRefused = /maximum of 1 batch or review at a time is reached/;

const [asJson] = longCalls as [LongCall];

describe.each(longCalls)("$name", (longCall) => {
  test("a batch or review is refused before its body arrives if the client already has a running batch or review", async () => {
    const caller = newAddress();
    const { answerTo } = useClient();
    const { socket } = await beginBatchWithoutBody(caller);
    const answer = await answerTo(longCall, caller, false);
    expect(answer).toMatch(isRefused);
    if (longCall.path.startsWith("/v1")) {
      expect(answer).toContain("concurrency_limited");
      expect(answer).toMatch(/":status":429/);
      expect(answer).toMatch(/"retry-after":"([1-9]|10)"/);
    }
    expect(await answerTo(longCall, newAddress())).not.toMatch(isRefused);
    // After the disconnect, the caller may start another batch.
    socket.destroy();
    await expect.poll(() => answerTo(longCall, caller), patience).not.toMatch(isRefused);
  });

  test("a client may start another batch or review after the previous request was answered or refused", async () => {
    const caller = newAddress();
    const { answerTo } = useClient();
    const wrong = { ...longCall, body: Buffer.from(longCall.body).fill(0x7b, longCall.body.length - 1) };
    for (let round = 0; round < 5; round++) {
      expect(await answerTo(longCall, caller)).not.toMatch(isRefused);
      expect(await answerTo(wrong, caller)).not.toMatch(isRefused);
    }
  });
});

test("an HTTP/1.1 connection can send one batch after the other without a pause", async () => {
  const headers = { ...json, "X-Forwarded-For": newAddress() };
  for (let round = 0; round < 20; round++) {
    const answer = await fetch(`${app.url}/v1/eval/batch`, { method: "POST", headers, body: batch });
    expect(answer.status).toBe(200);
    await answer.text();
  }
});

test.each(["/v1/eval/batch", "/v1/review"])(
  "the body of a batch or review is not read if the rate limit of the client is used up: %s",
  async (path) => {
    const caller = newAddress();
    const { answerTo } = useClient();
    const whole = JSON.stringify({
      requests: Array.from({ length: 60 }, () => ({ fen: startFen, depth: 1 })),
    });
    await answerTo({ ...asJson, body: Buffer.from(whole) }, caller);
    const answer = await answerTo({ ...asJson, path }, caller, false);
    expect(answer).toContain('":status":429');
    expect(answer).toContain("rate_limited");
    expect(answer).toMatch(/"retry-after":"\d+"/);
    expect(answer).toContain('"ratelimit":"\\"minute\\";r=0;');
  },
);

describe("review_game over MCP", () => {
  const call = async (caller: string, game: object, signal?: AbortSignal) => {
    const answer = await fetch(`${app.url}/mcp`, {
      method: "POST",
      headers: {
        ...json,
        Accept: "application/json, text/event-stream",
        "X-Forwarded-For": caller,
        "MCP-Protocol-Version": "2025-06-18",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "review_game", arguments: game },
      }),
      ...(signal && { signal }),
    });
    return answer.text();
  };

  test("review_game over MCP is refused before its PGN is read if the client has a running batch", async () => {
    const caller = newAddress();
    await beginBatchWithoutBody(caller);
    expect(await call(caller, { pgn: "no game" })).toMatch(/concurrency_limited/);
    expect(await call(newAddress(), { pgn: "no game" })).toMatch(/invalid_pgn/);
  });

  test("a batch is refused while the same client runs review_game over MCP", async () => {
    const caller = newAddress();
    const { answerTo } = useClient();
    const leaving = new AbortController();
    const left = call(caller, JSON.parse(slowReview), leaving.signal).catch(() => "left");
    await expect.poll(() => engines.searching, patience).toBeGreaterThan(0);
    expect(await answerTo(asJson, caller)).toMatch(isRefused);
    leaving.abort();
    expect(await left).toBe("left");
    await expect.poll(() => answerTo(asJson, caller), patience).not.toMatch(isRefused);
  });
});
