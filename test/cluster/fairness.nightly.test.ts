import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { iterationMs, waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { openRedis } from "../../src/storage/redis/connection.ts";
import { readNodes } from "../../src/storage/redis/nodes.ts";
import { startCluster } from "../../tools/cluster/start-cluster.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { until } from "../support/redis.ts";
import { nextQuestion } from "./traffic.ts";

interface Answer {
  readonly key?: string;
  readonly search?: { readonly queue_ms: number };
}

/** Each caller has a different address, because the service treats all keys of an address as one caller. */
interface Caller {
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
}

describeWith("redis", "haproxy")("three nodes behind HAProxy", () => {
  const plans = usePlansFile({
    id: "free",
    limits: { concurrent: 2000, rates: [rateOf("minute", 100_000, 60)] },
  });

  test("the first request from a caller waits for one or two searches, although 1,300 requests from another caller are waiting", async () => {
    await using cluster = await startCluster({
      env: {
        ...waitingEngineSettings(),
        PATH: process.env.PATH,
        KIBITZ_ACCESS: "public",
        KIBITZ_PLANS: plans,
        KIBITZ_SLOTS: "1",
        KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
      },
    });
    const leaving = new AbortController();
    const post = async (
      url: string,
      path: string,
      body: object,
      { agent, headers }: Caller,
    ): Promise<Answer> => {
      const call = request(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        agent,
        signal: leaving.signal,
      });
      call.end(JSON.stringify(body));
      const [response] = (await once(call, "response")) as [IncomingMessage];
      const answer = (await json(response)) as Answer;
      if (response.statusCode !== 200 && response.statusCode !== 201) {
        throw new Error(`${response.statusCode} ${JSON.stringify(answer)}`);
      }
      return answer;
    };
    let callers = 0;
    const newCaller = async (): Promise<Caller> => {
      const agent = new Agent({ keepAlive: true, localAddress: `127.0.1.${++callers}` });
      const { key } = await post(cluster.url, "/v1/keys", {}, { agent, headers: {} });
      return { agent, headers: { authorization: `Bearer ${key}` } };
    };
    using redis = await openRedis({
      url: cluster.redisUrl,
      prefix: "kibitz:",
      times: { operationMaxMs: 10_000, connectMaxMs: 10_000 },
    });
    const waiting = async () =>
      (await readNodes(redis)).map((node) => node.waiting).reduce((sum, one) => sum + one, 0);
    // HAProxy closes a call after 90 s without data. The test ends earlier.
    const depth = 11;
    const searchMs = (depth - 1) * iterationMs;
    const targets = [cluster, ...cluster.nodes].flatMap(({ url }) => Array.from({ length: 5 }, () => url));
    const others = await Promise.all(targets.map(newCaller));
    const flooding = await newCaller();
    const failures: unknown[] = [];
    // HAProxy needs several connections to each node for these requests, and must lose none of the requests. The requests start
    // over half a minute, because HAProxy excludes a node that accepts no connection for two seconds.
    const asked = Array.from({ length: 1300 }, async (_, index) => {
      await sleep(20 * index);
      while (!leaving.signal.aborted && failures.length === 0) {
        await post(cluster.url, "/v1/eval", nextQuestion(depth), flooding).catch((error: unknown) => {
          if (!leaving.signal.aborted) {
            failures.push(error);
          }
        });
      }
    });
    try {
      await until(async () => failures.length > 0 || (await waiting()) > 1000, Boolean, 180_000);
      expect(failures).toEqual([]);
      const waitedMs: number[] = [];
      for (const [index, url] of targets.entries()) {
        const answer = await post(url, "/v1/eval", nextQuestion(depth), others[index] as Caller);
        waitedMs.push(answer.search?.queue_ms ?? Number.NaN);
      }
      // Without fairness, a request would wait for hundreds of searches. It may wait for two: if the expected time of a search
      // has just increased, a request of the flood is served first.
      waitedMs.sort((a, b) => a - b);
      expect(waitedMs[targets.length / 2], `the median of ${waitedMs}`).toBeLessThan(1.2 * searchMs);
      expect(waitedMs.at(-1), `the worst of ${waitedMs}`).toBeLessThan(2.2 * searchMs);
      expect(await waiting()).toBeGreaterThan(900);
      expect(failures).toEqual([]);
    } finally {
      leaving.abort();
      await Promise.all(asked);
      for (const { agent } of [flooding, ...others]) {
        agent.destroy();
      }
    }
  });
});
