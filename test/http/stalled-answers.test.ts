import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnectRouter } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createBodyBudget } from "../../src/http/body-budget.ts";
import { endInParts, isGone, type NodeResponse, type RequestHandler } from "../../src/http/message.ts";
import { createConnectAdapter } from "../../src/protocols/connect/adapter.ts";
import { startListener } from "./start-listener.ts";

test("a stream ends when its caller disconnects while a long message is still unread", async () => {
  const ended: string[] = [];
  const { handlers } = createConnectRouter().rpc(AnalysisService.method.streamEvaluate, async function* () {
    try {
      yield { event: { case: "evaluation" as const, value: { fen: "x".repeat(200_000) } } };
    } finally {
      ended.push("ended");
    }
  });
  const { base, errors } = await startListener([
    createConnectAdapter({ handlers, bodies: createBodyBudget() }),
  ]);
  const client = connectHttp2(base, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => client.destroy());
  const call = client.request({
    ":method": "POST",
    ":path": `/${AnalysisService.typeName}/StreamEvaluate`,
    "content-type": "application/grpc+json",
  });
  call.on("error", () => {}).end(Buffer.from([0, 0, 0, 0, 2, ...Buffer.from("{}")]));
  await once(call, "response");
  await sleep(50);
  expect(ended).toEqual([]);
  call.close(constants.NGHTTP2_CANCEL);
  await expect.poll(() => ended).toEqual(["ended"]);
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
  expect(errors).toEqual([]);
});

/** Longer than the buffers of the kernel for a loopback connection. */
const long = Buffer.alloc(32 * 1024 * 1024, "x");

const sendLong: RequestHandler = (_, res) => {
  res.setHeader("Content-Length", long.length);
  endInParts(res, long);
  return true;
};

const getLong = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

test("an HTTP/1.1 answer is closed after the timeout if its client reads nothing but sends bytes", async () => {
  const { port } = await startListener([sendLong], { unreadTimeoutMs: 300 });
  const socket = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {}).pause();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(getLong);
  const sending = setInterval(() => socket.write("G"), 50);
  onTestFinished(() => clearInterval(sending));
  // A paused socket does not notice the end of its connection, but its writes fail.
  await closed;
});

test.each([
  ["HTTP/1.1", false],
  ["HTTP/2", false],
  ["HTTP/1.1", true],
  ["HTTP/2", true],
])(
  "an answer over %s whose client reads slowly is sent completely (heap nearly full: %s)",
  async (version, isFull) => {
    let isHeapFull = false;
    // While the heap is nearly full, the server looks once a second, as started by default.
    const unreadTimeoutMs = isFull ? 30_000 : 1500;
    const { base, port } = await startListener([sendLong], { unreadTimeoutMs }, undefined, {
      isHeapFull: () => isHeapFull,
    });
    let call: Readable;
    if (version === "HTTP/1.1") {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.write(getLong.replace("x\r\n", "x\r\nConnection: close\r\n"));
      onTestFinished(() => void socket.destroy());
      call = socket;
    } else {
      const client = connectHttp2(base);
      onTestFinished(() => client.destroy());
      call = client.request({ ":path": "/" });
    }
    let bytes = 0;
    const startedAt = performance.now();
    call.on("data", (chunk: Buffer) => {
      isHeapFull = isFull;
      bytes += chunk.length;
      // Read evenly during twice the timeout. Do not pause if the machine is busy and the bytes are late: the kernel reports read
      // bytes to the server in steps of megabytes.
      const earlyMs = (3100 * bytes) / long.length - (performance.now() - startedAt);
      if (earlyMs > 0) {
        call.pause();
        setTimeout(() => call.resume(), earlyMs);
      }
    });
    await once(call, "close");
    expect(bytes).toBeGreaterThanOrEqual(long.length);
    expect(performance.now() - startedAt).toBeGreaterThan(3000);
  },
);

test("a stream that has nothing to send stays open, and a stream that nobody reads is closed although it grows", async () => {
  const responses: NodeResponse[] = [];
  const stream: RequestHandler = (_, res) => {
    (res as ServerResponse).write("begun");
    responses.push(res);
    return true;
  };
  const { base } = await startListener([stream], { unreadTimeoutMs: 300 });
  const silent = connectHttp2(base);
  const deaf = connectHttp2(base, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => silent.destroy());
  onTestFinished(() => deaf.destroy());
  const calls = [silent, deaf].map((client) =>
    client
      .request({ ":path": "/" })
      .on("error", () => {})
      .resume(),
  );
  await Promise.all(calls.map((call) => once(call, "response")));
  const growing = setInterval(() => {
    for (const res of responses) {
      isGone(res) || res.req.url !== "/" || (res as ServerResponse).write(".");
    }
  }, 20);
  onTestFinished(() => clearInterval(growing));
  await expect.poll(() => calls[1]?.rstCode).toBe(constants.NGHTTP2_CANCEL);
  clearInterval(growing);
  await sleep(1000);
  expect(calls[0]?.closed).toBe(false);
});

test("a call is cancelled after a timeout if its client sends pings but does not read the response", async () => {
  const page: RequestHandler = (_, res) => {
    res.end("short");
    return true;
  };
  const { base, errors } = await startListener([page], { unreadTimeoutMs: 200 });
  const client = connectHttp2(base, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => client.destroy());
  const call = client.request({ ":path": "/" });
  call.on("error", () => {}).end();
  const pinging = setInterval(() => client.ping(() => {}), 20);
  await once(call, "close");
  clearInterval(pinging);
  // An aborted response must not look complete.
  expect(call.rstCode).toBe(constants.NGHTTP2_CANCEL);
  expect(errors).toEqual([]);
});

test("an answer that nobody reads is closed even if the request could not be identified", async () => {
  const { base } = await startListener([], { unreadTimeoutMs: 200 }, undefined, {
    isRpcPath: () => {
      throw new Error("isRpcPath is broken");
    },
  });
  const client = connectHttp2(base, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => client.destroy());
  const call = client.request({ ":path": "/" });
  call.on("error", () => {}).end();
  await once(call, "close");
  expect(call.rstCode).toBe(constants.NGHTTP2_CANCEL);
});
