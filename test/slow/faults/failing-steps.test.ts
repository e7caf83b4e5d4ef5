import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonUnary } from "../../faults/steps/exchanges.ts";
import { failEachStep } from "../../faults/steps/fail-each-step.ts";
import { type FailingServer, startFailingServer } from "../../faults/steps/failing-server.ts";

let server: FailingServer;
beforeAll(async () => {
  server = await startFailingServer();
});
afterAll(() => server[Symbol.asyncDispose]());

test("if any step of a request in plain JSON fails, its caller and the next caller are answered, and nothing is left", async () => {
  const { steps, outcomes, faults } = await failEachStep(server, jsonUnary);
  expect(faults).toEqual([]);
  expect(steps).toBeGreaterThan(30);
  expect(outcomes.error).toBeGreaterThan(20);
});
