import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { get, post } from "../contract/protocols/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { until, useRedis } from "../support/redis.ts";
import { type Relay, startRelay } from "../support/relay.ts";
import { type RunningApp, useNodes } from "../support/running-app.ts";
import { startSleepStopwatch, startStopwatch } from "../support/stopwatch.ts";

describeWith("redis")("four nodes whose Redis is paused, killed or slow", () => {
  const redis = useRedis(["--appendonly", "yes"]);
  let relay: Relay;
  beforeAll(async () => {
    relay = await startRelay(redis.port);
  });
  afterAll(() => relay[Symbol.asyncDispose]());
  const limits = { concurrent: 200, rates: [rateOf("minute", 100_000, 60)] };
  const settings = {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: usePlansFile({ id: "keyless", limits }, { id: "free", limits }),
    get KIBITZ_REDIS_URL() {
      return `redis://127.0.0.1:${relay.port}`;
    },
  };
  const nodes = useNodes(settings, ...[1, 2, 3, 4].map(() => ({ engines: createEnginesInProcess() })));
  const delay = async (ms: number) => {
    relay.answerDelayMs = ms;
  };
  const outages = [
    { begin: async () => redis.pause(), end: async () => redis.resume() },
    { begin: () => redis.kill(), end: () => redis.restart() },
    { begin: () => delay(1000), end: () => delay(0) },
  ];
  /** The maximum time of a call that does not wait for Redis. */
  const callMaxMs = 100;
  const ascending = (times: readonly number[]) => times.toSorted((a, b) => a - b);

  test("in 6 outages of Redis no call fails or waits for more than 0.5 s, and each node recovers within 2 s after an outage", async () => {
    const { body } = await post(`${nodes[0]?.url}/v1/keys`, {});
    /** Requests the evaluation of a checkmate. The service needs Redis for this request, but needs no engine. */
    const ask = async ({ url }: RunningApp, isKeyed: boolean): Promise<number> => {
      const waitedMs = startSleepStopwatch();
      const { status } = await post(
        `${url}/v1/eval`,
        { fen: "7k/5KQ1/8/8/8/8/8/8 b - - 0 1" },
        { "Content-Type": "application/json", ...(isKeyed && { authorization: `Bearer ${body.key}` }) },
      );
      expect(status).toBe(200);
      return waitedMs();
    };
    const readiness = async ({ url }: RunningApp) => (await get(`${url}/readyz`)).body;
    const askAll = () =>
      nodes.flatMap((node) => [
        ask(node, true),
        ask(node, true),
        ask(node, false),
        ask(node, false),
        ask(node, false),
      ]);
    await Promise.all(askAll());

    const [firstMs, laterMs, backMs]: number[][] = [[], [], []];
    for (const { begin, end } of [...outages, ...outages]) {
      // After this time, no node uses the key from its memory without asking Redis.
      await sleep(3100);
      await begin();
      firstMs?.push(...(await Promise.all(askAll())));
      for (const node of nodes) {
        expect(await readiness(node)).toEqual({ status: "ready", degraded: ["store"] });
      }
      for (let call = 0; call < 5; call++) {
        for (const node of nodes) {
          laterMs?.push(await ask(node, call % 2 === 0));
        }
      }
      // After an outage of three seconds, a node tries to connect twice a second.
      await sleep(3000);
      await end();
      const elapsedMs = startStopwatch();
      const recovered = nodes.map(async (node) => {
        await until(async () => (await readiness(node)).degraded === undefined, Boolean, 60_000);
        return elapsedMs();
      });
      backMs?.push(...(await Promise.all(recovered)));
    }
    const [first, later, back] = [firstMs, laterMs, backMs].map((times = []) => ascending(times));
    expect([first?.length, later?.length, back?.length]).toEqual([120, 120, 24]);
    expect(first?.at(-1), "the worst of the calls that notice").toBeLessThan(500);
    expect(later?.[60], "the median of the calls after these").toBeLessThan(callMaxMs / 4);
    expect(later?.at(-1), "the worst of the calls after these").toBeLessThan(callMaxMs);
    expect(back?.[12], "the median of the recoveries").toBeLessThan(1000);
    expect(back?.at(-1), "the worst of the recoveries").toBeLessThan(2000);
  });
});
