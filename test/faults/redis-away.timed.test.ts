import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { describeWith } from "../support/needs.ts";
import { until, useRedis } from "../support/redis.ts";
import { useApp } from "../support/running-app.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";

describeWith("redis")("a node whose Redis stands still", () => {
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
  const isDegraded = async () => (await get(`${app.url}/readyz`)).body.degraded !== undefined;

  async function answerMs(): Promise<number> {
    const headers = { "Content-Type": "application/json", "X-Forwarded-For": `198.51.100.${++callers}` };
    const stop = startStopwatch();
    expect((await post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 }, headers)).status).toBe(200);
    return stop();
  }

  test("a Redis that stands still delays the first call by 0.5 s at most, and the next ones not at all", async () => {
    await answerMs();
    const next: number[] = [];
    const first = await timesOf(20, async () => {
      redis.pause();
      const ms = await answerMs();
      await until(isDegraded);
      next.push(await answerMs());
      redis.resume();
      await until(async () => !(await isDegraded()));
      await sleep(20);
      return ms;
    });
    next.sort((a, b) => a - b);
    expect(first.medianMs).toBeLessThan(550);
    expect(first.worstMs).toBeLessThan(650);
    expect(next[10]).toBeLessThan(30);
    expect(next.at(-1)).toBeLessThan(150);
  });
});
