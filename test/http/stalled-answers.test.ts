import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnectRouter } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createBodyBudget } from "../../src/http/body-budget.ts";
import type { RequestHandler } from "../../src/http/message.ts";
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

test("a call is cancelled after a timeout if its client sends pings but does not read the response", async () => {
  const page: RequestHandler = (_, res) => {
    res.end("short");
    return true;
  };
  const { base, errors } = await startListener([page], { silenceTimeoutMs: 200 });
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
