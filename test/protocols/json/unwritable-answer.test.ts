import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { startListener } from "../../http/start-listener.ts";
import { madeUpGateway } from "./serve-gateway.ts";

test("a response that cannot be serialized gets 500, and the error is logged", async () => {
  const logged: unknown[] = [];
  const unwritable = Object.assign(create(AnalysisService.method.evaluate.output), { lines: 5 });
  const gateway = madeUpGateway({
    calls: { Evaluate: async () => unwritable },
    refused: async () => {},
    log: { error: (fields) => void logged.push(fields) },
  });
  const { base } = await startListener([gateway]);
  const answer = await fetch(`${base}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"fen":"startpos"}',
  });
  expect([answer.status, await answer.json()]).toMatchObject([500, { code: "internal" }]);
  expect(logged).toMatchObject([{ err: expect.any(TypeError), request: "/v1/eval" }]);
});
