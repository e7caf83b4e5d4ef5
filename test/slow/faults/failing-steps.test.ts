import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonUnary, otherExchanges } from "../../faults/steps/exchanges.ts";
import { failEachStep } from "../../faults/steps/fail-each-step.ts";
import { type FailingServer, startFailingServer } from "../../faults/steps/failing-server.ts";
import { allPairs } from "../../faults/steps/request-grammar.ts";
import { tryGrammar } from "../../faults/steps/try-grammar.ts";
import { createRandom } from "../../support/random.ts";

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

test.each(otherExchanges)(
  "if a step of a request fails, its caller and the next caller are answered, and nothing is left: $name",
  async (exchange) => {
    const { faults } = await failEachStep(server, exchange, { first: 2, every: 10 });
    expect(faults).toEqual([]);
  },
);

test("each pair of values in request lines and headers is answered over HTTP/1.1 and HTTP/2, also if a step fails", async () => {
  const random = createRandom(1);
  const { outcomes, faults } = await tryGrammar(server, allPairs(random), random);
  expect(faults).toEqual([]);
  for (const outcome of ["200", "304", "400", "404", "405", "406", "500"]) {
    expect(outcomes.get(`HTTP/1.1 ${outcome}`), outcome).toBeGreaterThan(0);
    expect(outcomes.get(`HTTP/2 ${outcome}`), outcome).toBeGreaterThan(0);
  }
});
