import { create } from "@bufbuild/protobuf";
import { createConnectRouter } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createBodyBudget } from "../../src/http/body-budget.ts";
import type { RequestHandler } from "../../src/http/message.ts";
import { createConnectAdapter } from "../../src/protocols/connect/adapter.ts";
import { ask } from "../abuse/ask.ts";
import { madeUpGateway, startFen } from "../protocols/json/serve-gateway.ts";
import { envelope } from "../support/envelope.ts";
import { patienceMs } from "../support/patience.ts";
import { startListener } from "./start-listener.ts";

const body = JSON.stringify({ fen: startFen });
const rpc = "/chess.analysis.v1.AnalysisService";
const refused = async () => {};

/** Returns a handler whose calls ignore that their client disconnects: each call ends when `work` resolves. */
function connectHandler(work: Promise<void>): RequestHandler {
  const router = createConnectRouter().service(AnalysisService, {
    async evaluate() {
      await work;
      return {};
    },
    async *streamEvaluate() {
      await work;
      yield {};
    },
  });
  return createConnectAdapter({ handlers: router.handlers, bodies: createBodyBudget() });
}

const jsonHandler = (work: Promise<void>): RequestHandler =>
  madeUpGateway({
    refused,
    calls: {
      async Evaluate() {
        await work;
        return create(AnalysisService.method.evaluate.output);
      },
    },
    streams: {
      async *StreamEvaluate() {
        await work;
        yield create(AnalysisService.method.streamEvaluate.output);
      },
    },
  });

describe.each([
  ["JSON", jsonHandler, "/v1/eval", { "content-type": "application/json" }, body],
  [
    "server-sent events",
    jsonHandler,
    "/v1/eval",
    { "content-type": "application/json", accept: "text/event-stream" },
    body,
  ],
  ["Connect", connectHandler, `${rpc}/Evaluate`, { "content-type": "application/json" }, body],
  [
    "a stream of Connect",
    connectHandler,
    `${rpc}/StreamEvaluate`,
    { "content-type": "application/connect+json" },
    envelope(Buffer.from(body)),
  ],
  [
    "gRPC-Web",
    connectHandler,
    `${rpc}/StreamEvaluate`,
    { "content-type": "application/grpc-web+json" },
    envelope(Buffer.from(body)),
  ],
] as const)("a call over %s", (protocol, handlerOf, path, headers, sent) => {
  test(`a call over ${protocol} is in flight until its work ends, even if its client disconnects`, async () => {
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    const { base } = await startListener([handlerOf(work)], {}, undefined, {
      callsPerCaller: () => 1,
      isRpcPath: (path) => path.startsWith(rpc),
    });
    const leaving = new AbortController();
    const left = ask(base + path, { method: "POST", headers, body: sent, signal: leaving.signal });
    const codeOfNext = async () => JSON.parse((await ask(`${base}/`)).body || "{}").code;
    await expect.poll(codeOfNext, { timeout: patienceMs }).toBe("concurrency_limited");
    leaving.abort();
    await expect(left).rejects.toThrow("aborted");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await codeOfNext()).toBe("concurrency_limited");
    endWork();
    await expect.poll(async () => (await ask(`${base}/`)).status, { timeout: patienceMs }).toBe(200);
  });
});
