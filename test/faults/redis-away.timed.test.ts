import { expect, test } from "vitest";
import { startFen } from "../contract/protocols/cases/case.ts";
import { get, post } from "../contract/protocols/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { describeWith } from "../support/needs.ts";
import { useRedis } from "../support/redis.ts";
import { useApp } from "../support/running-app.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";

describeWith("redis")("a node with an unresponsive Redis", () => {
  const redis = useRedis();
  let callers = 0;
  const app = useApp(
    {
      KIBITZ_ACCESS: "public",
      KIBITZ_TRUST_PROXY: "127.0.0.1",
      get KIBITZ_REDIS_URL() {
        return redis.url;
      },
    },
    { engines: createEnginesInProcess(), redis: { retryMaxMs: 100 } },
  );

  async function answerMs(): Promise<number> {
    const headers = { "Content-Type": "application/json", "X-Forwarded-For": `198.51.100.${++callers}` };
    const stop = startStopwatch();
    expect((await post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 }, headers)).status).toBe(200);
    return stop();
  }

  test("an unresponsive Redis delays the first calls by at most 0.5 s, and does not delay later calls", async () => {
    await answerMs();
    redis.pause();
    const first = await timesOf(20, answerMs, 20);
    // One of the first requests detected that Redis does not respond. Later requests do not wait for Redis.
    expect((await get(`${app.url}/readyz`)).body).toMatchObject({ degraded: ["store"] });
    const next = await timesOf(20, answerMs);
    expect(first.medianMs).toBeLessThan(550);
    expect(first.worstMs).toBeLessThan(650);
    expect(next.medianMs).toBeLessThan(30);
    expect(next.worstMs).toBeLessThan(150);
  });
});
