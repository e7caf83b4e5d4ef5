import { expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { errorFromFaults } from "../../../src/errors/errors.ts";
import { createBodyBudget } from "../../../src/http/body-budget.ts";
import { createConnectAdapter } from "../../../src/protocols/connect/adapter.ts";
import { createHandlers } from "../../../src/protocols/connect/handlers.ts";
import { createExplain } from "../../../src/protocols/connect/suggest.ts";
import { startListener } from "../../http/start-listener.ts";

const tooDeep = errorFromFaults([
  { pointer: "/depth", code: "out_of_range", message: "Too deep.", allowed: { minimum: 1, maximum: 9 } },
]);

test("an RPC whose suggestion fails is answered with its own error, and the failure is logged once", async () => {
  const bodies = createBodyBudget();
  const logged: unknown[] = [];
  const log = { error: (...line: readonly unknown[]) => void logged.push(line) };
  const broken = new Error("the judge is broken");
  const handlers = createHandlers({
    services: [AnalysisService],
    calls: { unary: () => () => Promise.reject(tooDeep), stream: () => async function* () {} },
    bodies,
    explain: (method) => createExplain(method, () => Promise.reject(broken), log),
  });
  const adapter = createConnectAdapter({ handlers, bodies });
  const { base } = await startListener([adapter], {}, undefined, { isRpcPath: () => true });
  const answer = await fetch(`${base}/${AnalysisService.typeName}/Evaluate`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"depth":12}',
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { code: "invalid_argument", message: "Too deep." },
  ]);
  expect(logged).toEqual([[{ err: broken, requestId: expect.any(String) }, "a suggestion failed"]]);
});
