import { afterAll, beforeAll, expect, test } from "vitest";
import { otherExchanges } from "../faults/steps/exchanges.ts";
import { failEachStep } from "../faults/steps/fail-each-step.ts";
import { type FailingServer, startFailingServer } from "../faults/steps/failing-server.ts";
import { allPairs, type Parts, randomParts } from "../faults/steps/request-grammar.ts";
import { tryGrammar } from "../faults/steps/try-grammar.ts";
import { createRandom, type Random } from "../support/random.ts";

let server: FailingServer;
beforeAll(async () => {
  server = await startFailingServer();
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(otherExchanges)(
  "if any step of a request fails, its caller and the next caller are answered, and nothing is left: $name",
  async (exchange) => {
    const { faults } = await failEachStep(server, exchange);
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

const minutes = 5;

/** Yields requests until the time has passed. */
function* requests(random: Random): Generator<Parts> {
  const endsAt = performance.now() + minutes * 60_000;
  while (performance.now() < endsAt) {
    yield randomParts(random);
  }
}

test("request lines and headers at random are answered over HTTP/1.1 and HTTP/2, also if a step fails", async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`SEED=${seed} repeats these requests`);
  const random = createRandom(seed);
  const { faults } = await tryGrammar(server, requests(random), random);
  expect(faults).toEqual([]);
});
