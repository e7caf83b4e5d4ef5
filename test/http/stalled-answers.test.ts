import { once } from "node:events";
import { connect as connectHttp2, constants, type OutgoingHttpHeaders } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createBodyBudget } from "../../src/http/body-budget.ts";
import type { RequestHandler } from "../../src/http/message.ts";
import { answerGet } from "../../src/http/pages/page.ts";
import { createConnectAdapter } from "../../src/protocols/connect/adapter.ts";
import { startListener } from "./start-listener.ts";

const service = `/${AnalysisService.typeName}`;

function createDoor({ handlers }: ConnectRouter) {
  return createConnectAdapter({
    handlers,
    bodies: createBodyBudget(),
  });
}

/** Calls with a window of nothing, on a connection that pings keep alive, until the call is cut; and gives the connection. */
async function callWithoutWindow(
  base: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body?: string,
) {
  const client = connectHttp2(base, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => client.destroy());
  const call = client.request({ ":method": body === undefined ? "GET" : "POST", ":path": path, ...headers });
  call.on("error", () => {}).end(body);
  const alive = setInterval(() => client.ping(() => {}), 20);
  await once(call, "close");
  clearInterval(alive);
  // What was cut must not look whole.
  expect(call.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
  return client;
}

test.each([
  ["of an RPC", `${service}/ListEngines`, { "content-type": "application/json" }, "{}"],
  ["of a page", "/page", {}, undefined],
  ["of an error", "/nothing", {}, undefined],
])(
  "a short answer %s that its client does not read ends its call after a while",
  async (_, path, headers, body) => {
    const page: RequestHandler = (req, res) => {
      if (req.url === "/page") {
        res.end("short");
      }
      return req.url === "/page";
    };
    const door = createDoor(createConnectRouter().service(AnalysisService, { listEngines: () => ({}) }));
    const { base, errors } = await startListener([door, page], { takeTimeoutMs: 200 });
    const client = await callWithoutWindow(base, path, headers, body);
    expect(client.destroyed).toBe(false);
    expect(errors).toEqual([]);
  },
);

test.each([
  [1_000_000, 65_535],
  [20_000, 1000],
])(
  "an answer of %i bytes is not cut if its reader takes each piece of a window of %i bytes in time",
  async (length, initialWindowSize) => {
    const page: RequestHandler = (req, res) => {
      answerGet(req, res, { contentType: "text/plain", body: Buffer.alloc(length, "x") });
      return true;
    };
    const takeTimeoutMs = 1500;
    const { base } = await startListener([page], { takeTimeoutMs });
    const client = connectHttp2(base, { settings: { initialWindowSize } });
    onTestFinished(() => client.destroy());
    const call = client.request({ ":path": "/" });
    let taken = 0;
    let piece = 0;
    call.on("data", (chunk: Buffer) => {
      taken += chunk.length;
      piece += chunk.length;
      if (piece >= initialWindowSize / 2) {
        piece = 0;
        call.pause();
        setTimeout(() => call.resume(), takeTimeoutMs / 15);
      }
    });
    const startedAt = performance.now();
    await once(call, "close");
    expect(performance.now() - startedAt).toBeGreaterThan(takeTimeoutMs);
    expect([taken, call.rstCode]).toEqual([length, constants.NGHTTP2_NO_ERROR]);
  },
);

describe("a long message that nobody takes", () => {
  /** Streams an answer of one long message to a client that takes nothing of it, and tells when that has ended. */
  async function startLong(takeTimeoutMs: number) {
    const ended: string[] = [];
    const router = createConnectRouter().rpc(AnalysisService.method.streamEvaluate, async function* () {
      try {
        yield { event: { case: "evaluation" as const, value: { fen: "x".repeat(200_000) } } };
      } finally {
        ended.push("ended");
      }
    });
    const { base, errors } = await startListener([createDoor(router)], { takeTimeoutMs });
    const client = connectHttp2(base, { settings: { initialWindowSize: 0 } });
    onTestFinished(() => client.destroy());
    const call = client.request({
      ":method": "POST",
      ":path": `${service}/StreamEvaluate`,
      "content-type": "application/grpc+json",
    });
    call.on("error", () => {}).end(Buffer.from([0, 0, 0, 0, 2, ...Buffer.from("{}")]));
    await once(call, "response");
    return { base, client, call, ended, errors };
  }

  test("a stream ends when its caller leaves during a long message", async () => {
    const { base, call, ended, errors } = await startLong(60_000);
    await sleep(50);
    expect(ended).toEqual([]);
    call.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => ended).toEqual(["ended"]);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect(errors).toEqual([]);
  });

  test("a long message that its client does not read ends its call after a while, but not the connection", async () => {
    const { client, call, ended, errors } = await startLong(200);
    const alive = setInterval(() => client.ping(() => {}), 20);
    await once(call, "close");
    clearInterval(alive);
    expect(ended).toEqual(["ended"]);
    const probe = client.request({ ":path": "/healthz" });
    expect((await once(probe, "response"))[0]).toMatchObject({ ":status": 200 });
    expect(errors).toEqual([]);
  });
});
