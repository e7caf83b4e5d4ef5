import { beforeAll, expect, test } from "vitest";
import { waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { openRedis, type Redis } from "../../src/storage/redis/connection.ts";
import { startFen } from "../contract/doors/cases/case.ts";
import { post } from "../contract/doors/post.ts";
import { describeWith } from "../support/needs.ts";
import { until, useRedis } from "../support/redis.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { startStopwatch } from "../support/stopwatch.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

describeWith("redis")("two nodes with one Redis", () => {
  const searches = 20;
  const redis = useRedis();
  const folder = useTemporaryFolder();
  let nodes: readonly Server[] = [];
  let store: Redis;

  beforeAll(async () => {
    const start = () =>
      startServer({
        // A search of 30 plies takes 6 s.
        ...waitingEngineSettings(200),
        PATH: process.env.PATH,
        KIBITZ_REDIS_URL: redis.url,
        KIBITZ_DATA_DIR: folder,
        KIBITZ_SLOTS: String(searches),
      });
    nodes = await Promise.all([start(), start()]);
    store = await openRedis({
      url: redis.url,
      prefix: "kibitz:",
      times: { operationMaxMs: 10_000, connectMaxMs: 10_000 },
    });
    return async () => {
      store[Symbol.dispose]();
      await Promise.all(nodes.map((node) => node.stop("SIGKILL")));
    };
  });

  /** The id of each claim, by its key. */
  async function claims(): Promise<ReadonlyMap<string, unknown>> {
    const keys = ((await store.ask("KEYS", ["claim:*"])) as readonly string[]).map((key) =>
      key.slice("kibitz:".length),
    );
    const ids = keys.length === 0 ? [] : ((await store.ask("MGET", keys)) as readonly unknown[]);
    return new Map(keys.map((key, at) => [key, ids[at]]));
  }

  test("each of 20 searches is run by the node that waits for it within 2 s after the node that runs it is killed", async () => {
    const [killed, waits] = nodes as [Server, Server];
    const ask = ({ url }: Server, move: number) =>
      post(`${url}/v1/eval`, { fen: startFen.replace(/1$/, String(1 + move)), depth: 30 }).catch(() => {});
    const asked = Array.from({ length: searches }, (_, move) => ask(killed, move));
    const before = await until(claims, ({ size }) => size === searches);
    asked.push(...Array.from({ length: searches }, (_, move) => ask(waits, move)));
    const tookMs = new Map<string, number>();
    process.kill(killed.pid, "SIGKILL");
    const elapsedMs = startStopwatch(process.pid, waits.pid);
    await until(async () => {
      const now = await claims();
      const ms = elapsedMs();
      for (const [key, id] of now) {
        if (id !== before.get(key) && !tookMs.has(key)) {
          tookMs.set(key, ms);
        }
      }
      return tookMs.size === searches;
    });
    const sorted = [...tookMs.values()].toSorted((a, b) => a - b);
    // A lease of 1.2 s, and one poll.
    expect(sorted[searches / 2], "the median").toBeLessThan(1600);
    expect(sorted.at(-1), "the worst").toBeLessThan(2000);
    await Promise.all(asked);
  });
});
