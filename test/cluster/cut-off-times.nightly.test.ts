import { expect, test, vi } from "vitest";
import { get, post } from "../contract/protocols/post.ts";
import { startSleepStopwatch, startStopwatch, timesOf } from "../support/stopwatch.ts";
import { describeCutOff, useCutOffCluster } from "./cut-off-cluster.ts";
import { jsonCaller, nextQuestion } from "./traffic.ts";

describeCutOff("a node that is cut off", () => {
  const cluster = useCutOffCluster();
  const patience = { timeout: 60_000, interval: 10 };
  /** The maximum time of a call that does not wait for Redis. */
  const callMaxMs = 100;

  test("calls to a node that loses its connection to the balancer are answered within 10 s", async () => {
    const { url, stateOfAway, cut, repair } = cluster;
    const asked = Array.from({ length: 70 }, async () => {
      const ask = jsonCaller(url);
      const elapsedMs = startStopwatch();
      await ask(nextQuestion(4));
      return elapsedMs();
    });
    await vi.waitFor(async () => expect((await stateOfAway()).now).toBeGreaterThan(20), patience);
    cut("balancer");
    // From now on, only the other two nodes can answer.
    const lost = (await stateOfAway()).now;
    const tookMs = await Promise.all(asked).finally(() => repair("balancer"));
    const ofLost = tookMs.toSorted((a, b) => a - b).slice(-lost);
    expect(ofLost.length).toBeGreaterThanOrEqual(20);
    expect(ofLost[Math.floor(lost / 2)], "the median").toBeLessThan(9000);
    expect(ofLost.at(-1), "the worst").toBeLessThan(10_000);
  });

  test("no call waits for more than 0.5 s when its node loses its connection to Redis", async () => {
    const { away, cut, repair } = cluster;
    // A finished game needs Redis for the limits of the caller, and no engine.
    const ask = async () => {
      const waitedMs = startSleepStopwatch(away.pid);
      const { status } = await post(`${away.url}/v1/eval`, { fen: "7k/5KQ1/8/8/8/8/8/8 b - - 0 1" });
      expect(status).toBe(200);
      return waitedMs();
    };
    const readiness = async () => (await get(`${away.url}/readyz`)).body;
    // Wait for the end of an outage from a failed run of this test.
    await vi.waitFor(async () => expect(await readiness()).toEqual({ status: "ready" }), patience);
    await ask();
    cut("redis");
    try {
      const tookMs = await Promise.all(Array.from({ length: 20 }, ask));
      // One of the calls has noticed the outage. Later calls do not wait for Redis.
      expect(await readiness()).toEqual({ status: "ready", degraded: ["store"] });
      const later = await timesOf(20, ask);
      expect(Math.max(...tookMs), "the worst of the first").toBeLessThan(500);
      expect(later.worstMs, "the worst of the others").toBeLessThan(callMaxMs);
    } finally {
      repair("redis");
    }
  });
});
