import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createCalls } from "../../../src/calls/create-calls.ts";
import { withReport } from "../../../src/calls/middleware.ts";
import { createBodyBudget } from "../../../src/http/body-budget.ts";
import { createConnectAdapter } from "../../../src/protocols/connect/adapter.ts";
import { createHandlers } from "../../../src/protocols/connect/handlers.ts";
import { startListener } from "../../http/start-listener.ts";

test("if the deadline passes while the handler waits for a Node timer, the client gets the error deadline_exceeded", async () => {
  const bodies = createBodyBudget();
  const sleeping = async (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
    (await sleep(60_000, undefined, { signal })) as never;
  const implementation = { service: AnalysisService, methods: { evaluate: sleeping } as never };
  const calls = createCalls([implementation], [withReport(() => {})]);
  const evaluateAlone = { ...AnalysisService, methods: [AnalysisService.method.evaluate] };
  const handlers = createHandlers({ services: [evaluateAlone], calls, bodies });
  const adapter = createConnectAdapter({ handlers, bodies });
  const { base } = await startListener([adapter], {}, undefined, { isRpcPath: () => true });
  // The test does not use Connect's client, because this client ends the call itself at the deadline.
  const answer = await fetch(`${base}/${AnalysisService.typeName}/Evaluate`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Connect-Timeout-Ms": "50" },
    body: "{}",
  });
  expect([answer.status, await answer.json()]).toMatchObject([504, { code: "deadline_exceeded" }]);
});
