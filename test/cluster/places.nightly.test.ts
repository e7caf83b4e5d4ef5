import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { openRedis } from "../../src/storage/redis/connection.ts";
import { startFen } from "../contract/protocols/cases/case.ts";
import { post } from "../contract/protocols/post.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useRedis } from "../support/redis.ts";
import { serve } from "../support/served.ts";
import { startStopwatch } from "../support/stopwatch.ts";

describeWith("redis")("two nodes with one Redis", () => {
  const redis = useRedis();
  const plans = usePlansFile({
    id: "keyless",
    limits: { concurrent: 1, depth_max: 30, rates: [rateOf("minute", 100_000, 60)] },
  });
  const askEveryMs = 250;

  test("each of 20 callers can search again within 8 s after the node that runs its search is killed", async () => {
    const start = async (msAPly: number) => {
      const { KIBITZ_PORT: _, ...settings } = waitingEngineSettings(msAPly);
      return serve({
        ...settings,
        PATH: process.env.PATH ?? "",
        KIBITZ_ACCESS: "public",
        KIBITZ_PLANS: plans,
        KIBITZ_SLOTS: "1",
        KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
        KIBITZ_TRUST_PROXY: "127.0.0.1",
        KIBITZ_REDIS_URL: redis.url,
      });
    };
    const [killed, other] = await Promise.all([start(150), start(0)]);
    using store = await openRedis({
      url: redis.url,
      prefix: "kibitz:",
      times: { operationMaxMs: 10_000, connectMaxMs: 10_000 },
    });
    const callers = Array.from({ length: 20 }, (_, index) => `192.0.2.${1 + index}`);
    let move = 0;
    const ask = (url: string, caller: string, depth: number) =>
      post(
        `${url}/v1/eval`,
        { fen: startFen.replace(/1$/, String(++move)), depth },
        { "Content-Type": "application/json", "x-forwarded-for": caller },
      );

    const lost = callers.map((caller) => ask(killed.url, caller, 30).catch((error: Error) => error));
    const places = () => Promise.all(callers.map((caller) => store.ask("ZCARD", [`places:${caller}`])));
    await vi.waitFor(async () => expect(await places()).toEqual(callers.map(() => 1)), 20_000);
    for (const caller of callers) {
      expect((await ask(other.url, caller, 1)).body.code).toBe("concurrency_limited");
    }
    await killed.stop("SIGKILL");
    const elapsedMs = startStopwatch(process.pid, other.pid);
    const backMs = await Promise.all(
      callers.map(async (caller) => {
        for (;;) {
          const askedMs = elapsedMs();
          const { status, body } = await ask(other.url, caller, 1);
          if (status === 200) {
            return askedMs;
          }
          expect(body.code).toBe("concurrency_limited");
          await sleep(askEveryMs);
        }
      }),
    );
    for (const answer of await Promise.all(lost)) {
      expect(answer).toBeInstanceOf(Error);
    }
    // There is no check of the median: a node renews the entries of all its callers in Redis with one command, so they
    // expire together.
    expect(Math.max(...backMs), "the worst").toBeLessThan(8000 + askEveryMs);
  });
});
