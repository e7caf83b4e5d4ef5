import { once } from "node:events";
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from "node:http2";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { EvaluateResponseSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { UnaryHandler } from "../../../src/calls/create-calls.ts";
import { type ServedGateway, serveGateway, startFen } from "./serve-gateway.ts";

const evaluate = vi.fn<UnaryHandler>(async (_, { outcome }) => {
  outcome?.answerHeaders.set("ratelimit", "x");
  return create(EvaluateResponseSchema, { summary: "♞" });
});
const request = JSON.stringify({ fen: startFen });

let served: ServedGateway;
let session: ClientHttp2Session;
beforeAll(async () => {
  served = await serveGateway({ Evaluate: evaluate }, "h2c");
  session = connect(served.url);
});
afterAll(async () => {
  await new Promise<void>((resolve) => session.close(resolve));
  await served[Symbol.asyncDispose]();
});

async function ask(method: string, path: string, body = "", more: Record<string, string> = {}) {
  const stream = session.request({ ":method": method, ":path": path, ...more });
  if (body === "") {
    stream.end();
  } else {
    stream.end(body);
  }
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    text += chunk;
  }
  return { status: headers[":status"], headers, text };
}

const json = { "content-type": "application/json" };

it("plain JSON gets the same response over HTTP/2 as over HTTP/1.1", async () => {
  const { status, headers, text } = await ask("POST", "/v1/eval", request, json);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
    "cache-control": "no-store",
    ratelimit: "x",
  });
  expect(JSON.parse(text)).toMatchObject({ summary: "♞", lines: [] });
});

it("a problem document over HTTP/2 has no Connection header", async () => {
  const { status, headers, text } = await ask("POST", "/v1/eval", '{"deph":3}', json);
  expect([status, headers["content-type"]]).toEqual([400, "application/problem+json"]);
  expect(headers.connection).toBeUndefined();
  expect(JSON.parse(text)).toMatchObject({ code: "unknown_field" });
});

it.each([
  ["because of its Content-Length", { ...json, "content-length": "200000" }],
  ["because of its received bytes", json],
])("an HTTP/2 session stays open after a body that is too large is refused %s", async (_, headers) => {
  const { status, text } = await ask("POST", "/v1/eval", "x".repeat(200_000), headers);
  expect([status, JSON.parse(text).code]).toEqual([413, "body_too_large"]);
  expect((await ask("GET", "/engines")).status).toBe(200);
});

it("an HTTP/2 stream is closed if its body exceeds the limit while the client is still sending the body", async () => {
  const stream = session.request({ ":method": "POST", ":path": "/v1/eval", ...json });
  stream.write("x".repeat(70_000));
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
  expect(headers[":status"]).toBe(413);
  stream.resume();
  await once(stream, "close");
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
});

it("an HTTP/2 caller that disconnects while sending gets no response", async () => {
  evaluate.mockClear();
  const stream = session.request({ ":method": "POST", ":path": "/v1/eval", ...json });
  stream.write(request);
  await new Promise((resolve) => setTimeout(resolve, 20));
  // The complete JSON has arrived, but the stream is not ended. Node's `close` would end it.
  stream.destroy();
  await once(stream, "close");
  await ask("GET", "/engines");
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(evaluate).not.toHaveBeenCalled();
});

it("the abort signal of an HTTP/2 call fires when the caller disconnects", async () => {
  const { promise, resolve } = Promise.withResolvers<AbortSignal>();
  evaluate.mockImplementationOnce(async (_, context) => {
    resolve(context.signal);
    await once(context.signal, "abort");
    return create(EvaluateResponseSchema);
  });
  const stream = session.request({ ":method": "POST", ":path": "/v1/eval", ...json });
  stream.end(request);
  const signal = await promise;
  stream.close(constants.NGHTTP2_CANCEL);
  await once(signal, "abort");
  expect(signal.reason).toEqual(new Error("the client disconnected"));
  expect((await ask("GET", "/engines")).status).toBe(200);
});
