import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { iterationMs, waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { openRedis } from "../../src/storage/redis/connection.ts";
import { readNodes } from "../../src/storage/redis/nodes.ts";
import { startCluster } from "../../tools/cluster/start-cluster.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { nextQuestion } from "./traffic.ts";

const deployed = readFileSync(new URL("../../deploy/haproxy/haproxy.cfg", import.meta.url), "utf8");

interface Answer {
  readonly key?: string;
  readonly code?: string;
  readonly search?: { readonly queue_ms: number; readonly time_ms: number };
}

describeWith("redis", "haproxy")("a thousand waiting requests of one key", () => {
  const plans = usePlansFile({
    id: "free",
    limits: { concurrent: 2000, rates: [rateOf("minute", 100_000, 60)] },
  });

  const folder = useTemporaryFolder();

  /**
   * The configuration that operators copy, with more patience: in operation HAProxy has a machine that has time for it, and here it
   * may be two seconds late itself, takes nodes for gone whose connections it has not looked at, and then all of them.
   */
  function patientConfig(): string {
    const file = join(folder, "haproxy.cfg");
    let text = deployed;
    for (const time of ["timeout connect 2s", "timeout check 2s"]) {
      expect(text).toContain(time);
      text = text.replace(time, time.replace("2s", "60s"));
    }
    // Its callers are several, who say so.
    const forgets = "http-request del-header X-Forwarded-For";
    expect(text).toContain(forgets);
    writeFileSync(file, text.replace(forgets, ""));
    return file;
  }

  test("delay the first one of another key by one search at most, behind HAProxy, on whichever node it comes", async () => {
    await using cluster = await startCluster({
      config: patientConfig(),
      env: {
        ...waitingEngineSettings(),
        PATH: process.env.PATH,
        KIBITZ_ACCESS: "public",
        KIBITZ_PLANS: plans,
        KIBITZ_SLOTS: "1",
        KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
      },
    });
    const agent = new Agent({ keepAlive: true });
    const leaving = new AbortController();
    const post = async (
      url: string,
      path: string,
      body: object,
      who: Readonly<Record<string, string>>,
    ): Promise<Answer> => {
      const call = request(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...who },
        agent,
        signal: leaving.signal,
      });
      call.end(JSON.stringify(body));
      const [response] = (await once(call, "response")) as [IncomingMessage];
      return (await json(response)) as Answer;
    };
    // Keys that one address gets are one caller.
    const newKey = async (address: string) => {
      const { key } = await post(cluster.url, "/v1/keys", {}, { "x-forwarded-for": address });
      return { authorization: `Bearer ${key}` };
    };
    const [flooding, other] = [await newKey("192.0.2.1"), await newKey("192.0.2.2")];
    const depth = 9;
    /** As the machine is at the moment: a busy one makes searches longer that only wait. */
    let longestSearchMs = (depth - 1) * iterationMs;
    // All at once, which are more than a connection from HAProxy to a node may have: it has to open others, and to lose none.
    const lost: unknown[] = [];
    const asked = Array.from({ length: 1300 }, async () => {
      for (;;) {
        const answer = await post(cluster.url, "/v1/eval", nextQuestion(depth), flooding).catch(
          (error) => error,
        );
        if (leaving.signal.aborted) {
          return;
        }
        if (answer.search) {
          longestSearchMs = Math.max(longestSearchMs, answer.search.time_ms);
          continue;
        }
        // A node that is too busy to take it in says so in a problem. HAProxy says what it says in HTML, or ends the connection.
        if (answer.code !== "overloaded") {
          lost.push(answer);
        }
        // Not all at once again, or they are refused again.
        await sleep(1000 + Math.random() * 4000);
      }
    });
    using redis = await openRedis({
      url: cluster.redisUrl,
      prefix: "kibitz:",
      times: { operationMaxMs: 10_000, connectMaxMs: 10_000 },
    });
    // As `kibitz nodes` shows it, every two seconds.
    const waiting = async () =>
      (await readNodes(redis)).map((node) => node.waiting).reduce((sum, one) => sum + one, 0);
    /** The best of three: a machine that others use may let one wait. In its turn among all it would wait for hundreds. */
    const searchesWaitedFor = async (url: string): Promise<number> => {
      const waited: number[] = [];
      while (waited.length < 3 && !(Math.min(...waited) < 1.5)) {
        const answer = await post(url, "/v1/eval", nextQuestion(depth), other);
        // Too busy to take it in, which is no place in a queue.
        if (answer.code === "overloaded") {
          await sleep(1000);
          continue;
        }
        waited.push((answer.search?.queue_ms ?? Number.NaN) / longestSearchMs);
      }
      return Math.min(...waited);
    };
    try {
      await vi.waitFor(async () => expect(await waiting()).toBeGreaterThan(1000), {
        timeout: 180_000,
        interval: 500,
      });
      for (const { url } of [cluster, ...cluster.nodes]) {
        expect(await searchesWaitedFor(url)).toBeLessThan(1.5);
      }
      expect(await waiting()).toBeGreaterThan(900);
      expect(lost).toEqual([]);
    } finally {
      leaving.abort();
      agent.destroy();
      await Promise.all(asked);
    }
  }, 400_000);
});
