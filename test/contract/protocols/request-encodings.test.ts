import { once } from "node:events";
import { connect } from "node:http2";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope } from "../../support/envelope.ts";
import { useApp } from "../../support/running-app.ts";
import { callGrpc } from "./call-grpc.ts";
import { startFen } from "./cases/case.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const service = "/chess.analysis.v1.AnalysisService";
const message = JSON.stringify({ fen: startFen, depth: 1 });

type Pack = (text: string) => Buffer;

async function ask(path: string, headers: Readonly<Record<string, string>>, body?: Buffer) {
  const init = body && { method: "POST", body: new Uint8Array(body) };
  const answer = await fetch(app.url + path, { ...init, headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const streamHeaders = (encoding: string) => ({
  "Content-Type": "application/connect+json",
  "Connect-Content-Encoding": encoding,
  // Without this header, the server compresses the response like the request.
  "Connect-Accept-Encoding": "identity",
});

const askGrpc = (encoding: string, pack: Pack) =>
  callGrpc(app.url, "Evaluate", envelope(pack(message), 1), { "grpc-encoding": encoding });

describe("a request in brotli", () => {
  test("a brotli request over Connect is refused as unimplemented, and the error names gzip", async () => {
    const headers = { "Content-Type": "application/json", "Content-Encoding": "br" };
    const answer = await ask(`${service}/Evaluate`, headers, brotliCompressSync(message));
    expect(answer.status).toBe(501);
    expect(answer.headers.get("accept-encoding")).toBe("gzip");
    expect(answer.text).toContain('"code":"unimplemented"');
    expect(answer.text).toContain('unknown compression \\"br\\": supported encodings are gzip.');
  });

  test("a brotli message in the query of a GET is refused as unimplemented, and the error names gzip", async () => {
    const packed = brotliCompressSync("{}").toString("base64url");
    const query = `connect=v1&encoding=json&compression=br&base64=1&message=${packed}`;
    const answer = await ask(`${service}/GetPrice?${query}`, {});
    expect(answer.status).toBe(501);
    expect(answer.headers.get("accept-encoding")).toBe("gzip");
    expect(answer.text).toContain('"code":"unimplemented"');
  });

  test("a brotli message over a Connect stream is refused as unimplemented, and the error names gzip", async () => {
    const headers = streamHeaders("br");
    const answer = await ask(`${service}/StreamEvaluate`, headers, envelope(brotliCompressSync(message), 1));
    expect(answer.headers.get("connect-accept-encoding")).toBe("gzip");
    expect(answer.text).toContain('"code":"unimplemented"');
  });

  test("a brotli message over gRPC-Web is refused as unimplemented, and the error names gzip", async () => {
    const headers = { "Content-Type": "application/grpc-web+json", "grpc-encoding": "br" };
    const answer = await ask(`${service}/Evaluate`, headers, envelope(brotliCompressSync(message), 1));
    expect(answer.headers.get("grpc-accept-encoding")).toBe("gzip");
    expect(answer.text).toMatch(/grpc-status: ?12/);
  });

  test("a brotli message over gRPC is refused as unimplemented, and the error names gzip", async () => {
    const { headers, trailers } = await askGrpc("br", (text) => brotliCompressSync(text));
    expect(headers["grpc-accept-encoding"]).toBe("gzip");
    expect(trailers["grpc-status"]).toBe("12");
  });

  test("a brotli message to the health service is refused as unimplemented", async () => {
    const headers = { "Content-Type": "application/json", "Content-Encoding": "br" };
    const answer = await ask("/grpc.health.v1.Health/Check", headers, brotliCompressSync("{}"));
    expect(answer.status).toBe(501);
  });
});

describe("a request in gzip is answered", () => {
  const packed = gzipSync(message);

  test("a gzip request over Connect gets a gzip answer if the request has no accept header", async () => {
    const client = connect(app.url);
    onTestFinished(() => client.destroy());
    const stream = client.request({
      ":method": "POST",
      ":path": `${service}/ListEngines`,
      "content-type": "application/json",
      "content-encoding": "gzip",
    });
    stream.end(gzipSync("{}")).resume();
    const [headers] = await once(stream, "response");
    expect(headers).toMatchObject({ ":status": 200, "content-encoding": "gzip" });
  });

  test("a gzip request over Connect by POST or GET gets an answer and is decompressed only once", async () => {
    const decompress = vi.spyOn(compressionGzip, "decompress");
    onTestFinished(() => decompress.mockRestore());
    const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
    expect((await ask(`${service}/Evaluate`, headers, packed)).status).toBe(200);
    const query = `connect=v1&encoding=json&compression=gzip&base64=1&message=${packed.toString("base64url")}`;
    expect((await ask(`${service}/Evaluate?${query}`, {})).status).toBe(200);
    expect(decompress).toHaveBeenCalledTimes(2);
  });

  test.each([
    ["a stream of Connect", "StreamEvaluate", "connect", "Connect-Content-Encoding"],
    ["gRPC-Web", "Evaluate", "grpc-web", "grpc-encoding"],
    ["a stream of gRPC-Web", "StreamEvaluate", "grpc-web", "grpc-encoding"],
  ])(
    "a gzip request over %s is answered even if its message arrives in pieces",
    async (_, call, protocol, encoding) => {
      const bytes = envelope(packed, 1);
      const body = new ReadableStream({
        async start(controller) {
          for (const byte of bytes) {
            controller.enqueue(Uint8Array.of(byte));
          }
          controller.close();
        },
      });
      const headers = { "Content-Type": `application/${protocol}+json`, [encoding]: "gzip" };
      const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
      const text = await (await fetch(`${app.url}${service}/${call}`, init)).text();
      expect(text).not.toMatch(/"error"|grpc-status: ?[1-9]/);
      expect(text.length).toBeGreaterThan(100);
    },
  );

  test("a gzip request over gRPC is answered", async () => {
    const { trailers } = await askGrpc("gzip", (text) => gzipSync(text));
    expect(trailers["grpc-status"]).toBe("0");
  });

  test("two gzip messages are refused if the call expects one message", async () => {
    const headers = streamHeaders("gzip");
    const two = Buffer.concat([envelope(packed, 1), envelope(packed, 1)]);
    const answer = await ask(`${service}/StreamEvaluate`, headers, two);
    expect(answer.text).toMatch(/"code":"(unimplemented|invalid_argument)"/);
  });
});

test.each([
  "application/grpc; charset=utf-8",
  "application/grpc;charset=UTF-8",
  "application/grpc+proto; charset=utf-8",
  'application/grpc+json; charset="utf-8"',
])("gRPC accepts the content type %s", async (type) => {
  // An empty message asks for the prices, in JSON as `{}`.
  const body = envelope(Buffer.from(type.includes("json") ? "{}" : ""));
  const { headers, trailers } = await callGrpc(app.url, "GetPrice", body, { "content-type": type });
  expect([headers[":status"], trailers["grpc-status"]]).toEqual([200, "0"]);
});

test.each(["application/grpc-web; charset=utf-8", "application/grpc-web+proto;charset=utf8"])(
  "gRPC-Web accepts the content type %s",
  async (type) => {
    const { status, text } = await ask(
      `${service}/GetPrice`,
      { "Content-Type": type },
      envelope(Buffer.alloc(0)),
    );
    expect([status, text]).toEqual([200, expect.stringContaining("grpc-status: 0")]);
  },
);

test("gRPC refuses a content type with another charset", async () => {
  const { headers } = await callGrpc(app.url, "GetPrice", envelope(Buffer.alloc(0)), {
    "content-type": "application/grpc; charset=latin1",
  });
  expect(headers[":status"]).toBe(415);
});
