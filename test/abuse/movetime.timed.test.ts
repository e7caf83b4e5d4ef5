import { expect, test } from "vitest";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";
import { startFen, useService } from "./started-service.ts";

const service = useService();

const movetimeMs = 50;
const lateMaxMs = 100;

test("a search with depth 30 and movetime_ms 50 is answered within 150 ms", async () => {
  const ask = () => service.post("/v1/eval", { fen: startFen, depth: 30, movetime_ms: movetimeMs });
  await ask();
  const { medianMs, worstMs } = await timesOf(20, async () => {
    const stopwatch = startStopwatch(process.pid, service.pid, ...service.engines());
    const { body } = await ask();
    const tookMs = stopwatch();
    expect(JSON.parse(body).search.stop_reason).toBe("movetime");
    return tookMs;
  });
  expect(medianMs).toBeLessThan(movetimeMs + lateMaxMs / 2);
  expect(worstMs).toBeLessThan(movetimeMs + lateMaxMs);
});
