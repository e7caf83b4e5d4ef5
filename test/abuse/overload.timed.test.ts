import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Answer, post } from "./ask.ts";
import { expectProblem } from "./expect-problem.ts";
import { expectUnharmed, type Health, watchHealth } from "./health-watch.ts";
import { type StartedService, useService } from "./started-service.ts";

/** Each request needs a different position, because requests with the same position would share one search. */
const fens = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { verdict: string; fen: string; expect: { request?: object } } => JSON.parse(line))
  .filter(({ fen }) => /^\S+ [wb] \S+ - \d+ \d+$/.test(fen))
  .filter(({ verdict, expect: { request } }) => verdict === "valid" && request === undefined)
  .map(({ fen }) => fen.split(" ").slice(0, 4).join(" "));

const callers = 100;
const searchMs = 2000;
/**
 * The maximum response time of a health probe while 100 callers connect. The documentation promises 100 ms, but not while so
 * many callers connect.
 */
const burstMaxMs = 250;

async function storm(service: StartedService): Promise<{ answers: readonly Answer[]; health: Health }> {
  const stop = await watchHealth(service);
  const answers = await Promise.all(
    Array.from({ length: callers }, (_, index) =>
      post(`${service.url}/v1/eval`, {
        fen: `${fens[index % fens.length]} 0 ${1 + index}`,
        depth: 20,
        movetime_ms: searchMs,
      }),
    ),
  );
  return { answers, health: await stop() };
}

function expectShed(answers: readonly Answer[], code: readonly string[]): void {
  for (const answer of answers) {
    if (answer.status !== 200) {
      expectProblem(answer, { status: [429, 503], code });
    }
  }
}

describe("16: 100 searches at a time", () => {
  const open = useService({ KIBITZ_QUEUE_MAX_WAIT_MS: String(searchMs) });
  const limited = useService({ KIBITZ_ACCESS: "public" });

  test("100 concurrent searches in open mode are answered or refused as overloaded, and health probes take less than 100 ms", async () => {
    const { answers, health } = await storm(open);
    expectShed(answers, ["overloaded"]);
    const answered = answers.filter(({ status }) => status === 200);
    expect(answered.length).toBeGreaterThanOrEqual(2);
    expect(answers.length - answered.length).toBeGreaterThan(50);
    // The service finishes every search that it has accepted.
    for (const { body } of answered) {
      expect(JSON.parse(body).search.stop_reason).toMatch(/^(movetime|depth)$/);
    }
    expectUnharmed(health, { worstMs: burstMaxMs });
    expect(health.p99Ms).toBeLessThan(100);
  });

  test("100 concurrent searches from one caller are answered or refused with 429 or 503, and health probes take less than 100 ms", async () => {
    const { answers, health } = await storm(limited);
    expectShed(answers, ["concurrency_limited", "rate_limited", "overloaded"]);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expectUnharmed(health, { worstMs: burstMaxMs });
    expect(health.p99Ms).toBeLessThan(100);
  });
});
