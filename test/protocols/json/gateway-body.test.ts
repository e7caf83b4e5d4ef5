import { once } from "node:events";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { EvaluateResponseSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { UnaryHandler } from "../../../src/calls/create-calls.ts";
import { answersFrom, exchange, open, type RawClient, rawRequest } from "../../support/raw-http.ts";
import { type ServedGateway, serveGateway, startFen } from "./serve-gateway.ts";

const evaluate = vi.fn<UnaryHandler>(async () => create(EvaluateResponseSchema, { id: "a1" }));
const request = JSON.stringify({ fen: startFen });

let served: ServedGateway;
beforeAll(async () => {
  served = await serveGateway({ Evaluate: evaluate });
});
afterAll(() => served[Symbol.asyncDispose]());

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
  fetch(`${served.url}/v1/eval`, { method: "POST", body, headers });

const json = { "Content-Type": "application/json" };

async function codeOf(response: Response) {
  const { code } = (await response.json()) as { code?: string };
  return [response.status, code];
}

/** Opens a connection, and sends the head of a request for an evaluation. */
async function begin(...headers: readonly string[]): Promise<RawClient> {
  const client = await open(served.port);
  client.socket.write(rawRequest("POST /v1/eval", headers));
  return client;
}

const typed = "Content-Type: application/json";
const sizedHead = [typed, `Content-Length: ${request.length}`];

describe("a request with a body and a query", () => {
  const ask = (target: string, headers: Record<string, string> = json) =>
    fetch(`${served.url}${target}`, { method: "POST", body: request, headers });

  it.each(["/v1/eval", "/v1/eval/stream", "/v1/eval/batch", "/v1/bestmove"])(
    "a request to %s with a body and a query is refused",
    async (path) => {
      const response = await ask(`${path}?depth=5&a%2Fb=1&depth=6`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: "unknown_field",
        detail:
          "This call takes no query parameters, but the URL has `depth`: put fields in the JSON body instead. There is 1 more fault.",
        next_action: "fix_request",
        errors: [{ pointer: "/depth" }, { pointer: "/a~1b" }],
      });
    },
  );

  it.each(["?", "?&"])("the empty query %s of a request with a body is ignored", async (query) => {
    expect((await ask(`/v1/eval${query}`)).status).toBe(200);
  });
});

describe("Content-Type", () => {
  it.each(["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"])(
    "the Content-Type %s is refused, and the error shows the right header",
    async (type) => {
      const response = await post(request, { "Content-Type": type });
      expect(await response.clone().text()).toContain("-H 'Content-Type: application/json'");
      expect(await codeOf(response)).toEqual([415, "unsupported_media_type"]);
    },
  );

  it("a missing Content-Type is refused, and the error shows the right header", async () => {
    const response = await exchange(
      served.port,
      rawRequest("POST /v1/eval", ["Content-Length: 2", "Connection: close"], "{}"),
    );
    expect(response).toMatch(/^HTTP\/1\.1 415 /);
    expect(response).toContain("The request has no Content-Type: add the header, in curl with -H");
  });
});

describe("Content-Encoding", () => {
  it.each([
    ["gzip", gzipSync(request)],
    ["GZIP", gzipSync(request)],
    ["x-gzip", gzipSync(request)],
    ["deflate", deflateSync(request)],
    ["identity", Buffer.from(request)],
  ])("a body with the Content-Encoding %s is decompressed", async (encoding, body) => {
    expect((await post(new Uint8Array(body), { ...json, "Content-Encoding": encoding })).status).toBe(200);
    expect(evaluate.mock.lastCall?.[0]).toMatchObject({ fen: startFen });
  });

  it.each(["br", "zstd", "compress", "gzip, br", "nonsense"])(
    "the Content-Encoding %s is refused, and the error lists the accepted encodings",
    async (encoding) => {
      const body = new Uint8Array(encoding === "br" ? brotliCompressSync(request) : Buffer.from(request));
      const response = await post(body, { ...json, "Content-Encoding": encoding });
      expect(response.headers.get("accept-encoding")).toBe("gzip, deflate");
      expect(await response.clone().text()).toContain(", and only gzip and deflate are accepted");
      expect(await codeOf(response)).toEqual([415, "unsupported_media_type"]);
    },
  );

  it.each([
    ["gzip", request],
    ["gzip", new Uint8Array(gzipSync(request).subarray(0, -9))],
    ["deflate", new Uint8Array(deflateRawSync(request))],
    ["gzip", ""],
  ])("a body that is not valid %s is refused", async (encoding, body) => {
    const response = await post(body, { ...json, "Content-Encoding": encoding });
    expect(await codeOf(response)).toEqual([400, "malformed_http"]);
  });

  it.each([
    ["gzip", gzipSync(Buffer.alloc(32 * 1024 * 1024))],
    ["deflate", deflateSync(Buffer.alloc(65 * 1024))],
  ])(
    "a body compressed with %s is refused if its decompressed size exceeds the limit",
    async (encoding, body) => {
      expect(body.length).toBeLessThan(64 * 1024);
      const response = await post(new Uint8Array(body), { ...json, "Content-Encoding": encoding });
      expect(await codeOf(response)).toEqual([413, "body_too_large"]);
    },
  );
});

describe("the size of a body", () => {
  const sized = (bytes: number) => request + " ".repeat(bytes - request.length);

  it("a body of 64 KiB is accepted", async () => {
    expect((await post(sized(64 * 1024), json)).status).toBe(200);
  });

  it("a body with a too large Content-Length is refused before it arrives", async () => {
    const { socket } = await begin(typed, "Content-Length: 100000000");
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer.toString()).toMatch(/\r\nconnection: close\r\n/i);
  });

  it("a body without Content-Length is refused at the size limit, and the connection is closed", async () => {
    const { socket, closed } = await begin(typed, "Transfer-Encoding: chunked");
    const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
    const pump = setInterval(() => socket.write(chunk), 5);
    // The client has a second to read the response, and is still sending. Then its next write fails.
    const answer = await closed;
    clearInterval(pump);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });
});

it("a body that arrives in pieces is read, and the connection stays open", async () => {
  const { socket, received, closed } = await begin(...sizedHead);
  for (const piece of [request.slice(0, 10), request.slice(10, 11), request.slice(11)]) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await expect.poll(received).toMatch(/^HTTP\/1\.1 200 /);
  socket.write(rawRequest("GET /engines", ["Connection: close"]));
  expect(answersFrom(await closed).map(({ status }) => status)).toEqual([200, 200]);
});

it("a caller that disconnects while sending gets no response", async () => {
  evaluate.mockClear();
  const { socket, closed } = await begin(...sizedHead);
  socket.write(request.slice(0, 20));
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  expect(await closed).toBe("");
  // The next request uses the same connection, so it was not closed.
  expect((await post(request, json)).status).toBe(200);
  expect(evaluate).toHaveBeenCalledTimes(1);
});

it("the body of a GET is ignored", async () => {
  const bytes = rawRequest("GET /engines", ["Content-Length: 3", "Connection: close"], "{{{");
  expect(await exchange(served.port, bytes)).toMatch(/^HTTP\/1\.1 200 /);
});

describe("the abort signal of a call", () => {
  function nextSignal(): Promise<AbortSignal> {
    return new Promise((resolve) => {
      evaluate.mockImplementationOnce(async (_, context) => {
        resolve(context.signal);
        await new Promise<void>((left) => context.signal.addEventListener("abort", () => left()));
        throw context.signal.reason;
      });
    });
  }

  it("the abort signal of a call fires when the caller disconnects, and no error is logged", async () => {
    const signalMade = nextSignal();
    const { socket } = await begin(...sizedHead);
    socket.write(request);
    const signal = await signalMade;
    expect(signal.aborted).toBe(false);
    socket.destroy();
    await once(signal, "abort");
    expect(signal.reason).toEqual(new Error("the client disconnected"));
    expect((await post(request, json)).status).toBe(200);
    expect(served.logged).toEqual([]);
  });

  it("the abort signal of a call does not fire when the response is sent", async () => {
    let kept: AbortSignal | undefined;
    evaluate.mockImplementationOnce(async (_, { signal }) => {
      kept = signal;
      return create(EvaluateResponseSchema);
    });
    const { socket, closed } = await begin(...sizedHead, "Connection: close");
    socket.write(request);
    await closed;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(kept?.aborted).toBe(false);
  });
});
