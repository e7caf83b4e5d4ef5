import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";

// The server runs one search at a time. Other requests may wait only for a moment.
const app = useApp(
  { KIBITZ_SLOTS: "1", KIBITZ_QUEUE_MAX_WAIT_MS: "50" },
  { engines: createEnginesInProcess() },
);

const evaluate = (depth: number, multipv: number) =>
  post(`${app.url}/v1/eval`, { fen: startFen, depth, multipv, movetime_ms: 2000 });

test("while the server is overloaded, single requests are refused, but a batch waits and every item is answered", async () => {
  const holding = evaluate(30, 1);
  // While the engine is busy, the server rejects requests that would wait too long.
  await expect.poll(async () => (await evaluate(30, 2)).body.code).toBe("overloaded");

  const requests = [1, 2, 3].map((multipv) => ({ fen: startFen, depth: 9, multipv }));
  const { status, body } = await post(`${app.url}/v1/eval/batch`, { requests });
  expect(status).toBe(200);
  expect(body).toMatchObject(
    requests.map((limits, index) => ({
      index,
      problem: null,
      result: { search: { depth: 9, limits: { multipv: limits.multipv } } },
    })),
  );
  expect(await holding).toMatchObject({ status: 200, body: { search: { stop_reason: "movetime" } } });
});
