import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { type ConnectRouter, createConnectRouter, createContextValues } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { silentLog } from "../../src/log.ts";
import { connectErrorFrom } from "../../src/rpc/connect-error.ts";
import { createRpcDoor } from "../../src/server/rpc-door.ts";
import { startListener } from "./start-listener.ts";

const service = `/${AnalysisService.typeName}`;

function createDoor({ handlers }: ConnectRouter, takeMaxMs: number) {
  const contextValues = () => createContextValues();
  return createRpcDoor({ handlers, contextValues, explain: connectErrorFrom, log: silentLog, takeMaxMs });
}

test("a short answer that nobody takes costs its caller the call after a while, too", async () => {
  const { base, errors } = await startListener([
    createDoor(createConnectRouter().service(AnalysisService, { listEngines: () => ({}) }), 200),
  ]);
  const client = connectHttp2(base, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => client.destroy());
  const call = client.request({
    ":method": "POST",
    ":path": `${service}/ListEngines`,
    "content-type": "application/json",
  });
  call.on("error", () => {}).end("{}");
  const alive = setInterval(() => client.ping(() => {}), 20);
  await once(call, "close");
  clearInterval(alive);
  expect(client.destroyed).toBe(false);
  expect(errors).toEqual([]);
});

describe("a long message that nobody takes", () => {
  /** Streams an answer of one long message to a client that takes nothing of it, and tells when that has ended. */
  async function startLong(takeMaxMs: number) {
    const ended: string[] = [];
    const router = createConnectRouter().rpc(AnalysisService.method.streamEvaluate, async function* () {
      try {
        yield { fen: "x".repeat(200_000) };
      } finally {
        ended.push("ended");
      }
    });
    const { base, errors } = await startListener([createDoor(router, takeMaxMs)]);
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

  test("ends the stream when its caller leaves", async () => {
    const { base, call, ended, errors } = await startLong(60_000);
    await sleep(50);
    expect(ended).toEqual([]);
    call.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => ended).toEqual(["ended"]);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect(errors).toEqual([]);
  });

  test("costs its caller the call after a while, but not the connection", async () => {
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
