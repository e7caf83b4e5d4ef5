import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { openRedis, type Redis } from "../../src/storage/redis/connection.ts";
import { type Cluster, type ClusterNode, startCluster } from "../../tools/cluster/start-cluster.ts";
import { startFen } from "../contract/protocols/cases/case.ts";
import { get, post } from "../contract/protocols/post.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { until, useRedis } from "../support/redis.ts";
import { type Relay, startRelay } from "../support/relay.ts";

/** If Redis responds too slowly, a node searches without Redis for about this time. */
const pauseAfterTimeoutMs = 1100;

/** The fake engines wait 1.5 s for a search of 30 plies. */
describeWith("redis", "haproxy")("three nodes behind HAProxy with one Redis", () => {
  const redis = useRedis();
  const quota = 30;
  const plans = usePlansFile({
    id: "keyless",
    limits: { concurrent: 100, depth_max: 30, rates: [rateOf("minute", quota, 60)] },
  });
  const started = new AsyncDisposableStack();
  let cluster: Cluster;
  let relay: Relay;
  let store: Redis;

  beforeAll(async () => {
    relay = started.use(await startRelay(redis.port));
    const times = { operationMaxMs: 10_000, connectMaxMs: 10_000 };
    store = started.use(await openRedis({ url: redis.url, prefix: "kibitz:", times }));
    cluster = started.use(
      await startCluster({
        env: {
          ...waitingEngineSettings(),
          KIBITZ_ACCESS: "public",
          KIBITZ_PLANS: plans,
          KIBITZ_SLOTS: "3",
          KIBITZ_REDIS_URL: `redis://127.0.0.1:${relay.port}`,
        },
      }),
    );
    // The first search is slow because Node loads and compiles code. The node may conclude that Redis is slow.
    await Promise.all(cluster.nodes.map(({ url }) => ask(url, { fen: nextFen(), depth: 12 })));
    await sleep(pauseAfterTimeoutMs);
  });
  afterAll(() => started.disposeAsync());

  let callers = 0;
  let moves = 0;
  const newCaller = () => `192.0.2.${++callers}`;
  const nextFen = () => startFen.replace(/1$/, String(++moves));
  const ask = (url: string, question: Readonly<Record<string, unknown>>, caller = newCaller()) =>
    post(`${url}/v1/eval`, question, { "content-type": "application/json", "x-forwarded-for": caller });
  const keysOf = async (pattern: string) => (await store.ask("KEYS", [pattern])) as readonly string[];

  /** Fails unless all responses have the result of the same search. */
  async function expectOneSearch(answers: readonly ReturnType<typeof ask>[]) {
    const before = new Set(await keysOf("found:*"));
    const found = await Promise.all(answers);
    expect(found.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // The waiting time of each caller is different.
    const searches = found.map(({ body }) => ({ ...(body.search as object), queue_ms: 0 }));
    expect(searches).toEqual(searches.map(() => searches[0]));
    expect((await keysOf("found:*")).filter((key) => !before.has(key))).toHaveLength(1);
    return searches[0];
  }

  test.each([
    ["depth", "depth", {}],
    ["movetime_ms", "movetime", { movetime_ms: 1000 }],
  ])(
    "three nodes run one search for concurrent equal requests with the limit %s",
    async (_, stopReason, limit) => {
      const question = { fen: nextFen(), depth: 30, ...limit };
      const search = await expectOneSearch(cluster.nodes.map(({ url }) => ask(url, question)));
      expect(search).toMatchObject({ stop_reason: stopReason });
      const throughBalancer = { ...question, fen: nextFen() };
      await expectOneSearch([1, 2, 3].map(() => ask(cluster.url, throughBalancer)));
    },
  );

  test("when a searching node is killed, the waiting nodes together run the search once", async () => {
    const [killed, ...waiting] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
    const question = { fen: nextFen(), depth: 30 };
    // This call fails when the node is killed.
    ask(killed.url, question).catch(() => {});
    await until(async () => (await keysOf("claim:*")).length === 1);
    const answered = expectOneSearch(waiting.map((node) => ask(node.url, question)));
    await sleep(200);
    await killed.stop("SIGKILL");
    await answered;
    await killed.start();
  });

  test("three nodes behind HAProxy together admit exactly as many requests as one node", async () => {
    // This address is used by no other test. The header X-Forwarded-For does not help, because HAProxy removes it.
    const agent = new Agent({ localAddress: "127.0.1.1" });
    const statuses = await Promise.all(
      Array.from({ length: 2 * quota }, async () => {
        const headers = { "content-type": "application/json" };
        const call = request(`${cluster.url}/v1/eval`, { method: "POST", headers, agent });
        call.end(JSON.stringify({ fen: nextFen(), depth: 1 }));
        const [{ statusCode }] = (await once(
          call.on("response", (response) => response.resume()),
          "response",
        )) as [IncomingMessage];
        return statusCode;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(quota);
    expect(statuses.filter((status) => status === 429)).toHaveLength(quota);
  });

  const readiness = async ({ url }: ClusterNode) => (await get(`${url}/readyz`)).body;
  const patience = { timeout: 60_000, interval: 20 };

  test.each([
    [
      "gone",
      () => {
        relay.isRefusing = true;
        relay.reset();
      },
      () => {
        relay.isRefusing = false;
      },
    ],
    [
      "slow by a second",
      () => {
        relay.answerDelayMs = 1000;
      },
      () => {
        relay.answerDelayMs = 0;
      },
    ],
  ])(
    "while Redis is %s, no search fails and each node enforces a third of the quota, and afterwards the nodes share searches again",
    async (_, spoil, restore) => {
      await until(
        () => store.ask("ZCARD", ["nodes"]),
        (count) => count === 3,
      );
      // A node learns the number of nodes with its next heartbeat.
      await sleep(2500);
      const before = { fen: nextFen(), depth: 30 };
      const waiting = cluster.nodes.map((node) => ask(node.url, before));
      await sleep(300);
      spoil();
      try {
        const waited = await Promise.all(waiting);
        expect(waited.map(({ status }) => status)).toEqual([200, 200, 200]);
        for (const node of cluster.nodes) {
          await vi.waitFor(
            async () => expect(await readiness(node)).toEqual({ status: "ready", degraded: ["store"] }),
            patience,
          );
        }
        const caller = newCaller();
        for (const { url } of cluster.nodes) {
          const statuses = [];
          for (let count = 0; count < quota / 3 + 2; count++) {
            statuses.push((await ask(url, { fen: nextFen(), depth: 12 }, caller)).status);
          }
          expect(statuses).toEqual([...Array(quota / 3).fill(200), 429, 429]);
        }
      } finally {
        restore();
      }
      for (const node of cluster.nodes) {
        await vi.waitFor(async () => expect(await readiness(node)).toEqual({ status: "ready" }), patience);
      }
      await sleep(pauseAfterTimeoutMs);
      const after = { fen: nextFen(), depth: 30 };
      await expectOneSearch(cluster.nodes.map(({ url }) => ask(url, after)));
    },
  );
});
