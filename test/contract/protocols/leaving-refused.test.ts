import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { post } from "./post.ts";

const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile(
      { id: "keyless", limits: { rates: [rateOf("minute", 9, 60), rateOf("refusals", 1, 60, "refusal")] } },
      { id: "free", limits: {} },
    ),
  },
  { engines: createEnginesInProcess() },
);

const rpc = "/chess.analysis.v1.AnalysisService/Evaluate";
const json = { "content-type": "application/json" };

test.each([
  ["plain JSON", "/v1/eval", json],
  ["Connect", rpc, json],
  ["gRPC-Web", rpc, { "content-type": "application/grpc-web+json" }],
  ["gRPC", rpc, { "content-type": "application/grpc+json" }],
  ["MCP", "/mcp", { ...json, accept: "application/json, text/event-stream" }],
])(
  "a request over %s is logged even if the client disconnects before the delayed error",
  async (name, path, headers) => {
    const caller = { "x-forwarded-for": `203.0.113.${name.length}` };
    const refused = await post(`${app.url}/v1/eval`, { fen: "no position" }, { ...json, ...caller });
    expect(refused.status).toBe(400);
    const requestId = `left-${name.replace(" ", "-")}`;
    const session = connect(app.url);
    const sent = { ...headers, ...caller, "x-request-id": requestId, te: "trailers" };
    const request = session.request({ ":method": "POST", ":path": path, ...sent });
    request.on("error", () => {});
    request.end("{}");
    // The server delays this error by 100 ms.
    await sleep(30);
    request.close();
    const lines = () =>
      app.logged.filter((line) => (line as { readonly requestId?: string }).requestId === requestId);
    await vi.waitFor(() => expect(lines()).not.toEqual([]), patienceMs);
    expect(lines()).toMatchObject([{ message: "call", code: "rate_limited", limit: "keyless/refusals" }]);
    session.destroy();
  },
);
