import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createBriefRedis } from "../../../src/storage/redis/brief.ts";
import { createRedisSearches } from "../../../src/storage/redis/searches.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";

const never = new AbortController().signal;

describeWith("redis")("searches by leases", () => {
  const redis = useRedis();
  const connect = useConnections(redis);

  /** A node whose states are texts. Its leases do not end by themselves, and it asks once at most. */
  async function nodeOf(prefix: string, id: string, { askMaxMs = 10_000, beatMs = 50_000 } = {}) {
    const connection = await connect(prefix);
    const searches = createRedisSearches<string>(connection, {
      id,
      format: { version: 1, read: (json) => (typeof json === "string" ? json : undefined) },
      times: { leaseMs: 60_000, beatMs },
      brief: createBriefRedis(connection, { askMaxMs, restMs: 50 }),
    });
    searches.serve(async function* () {
      yield { value: `found by ${id}`, isLast: true };
    });
    const follow = (name: string) => searches.follow(name, () => {}, never);
    return { connection, searches, follow };
  }

  test("a lease knows its followers, also when an earlier search ends after the next one has begun", async () => {
    const leads = await nodeOf("twice:", "leads");
    const follows = await nodeOf("twice:", "follows");
    const first = await leads.searches.claim("e4");
    // The one that it asks is itself, and so knows nothing any more.
    expect(await leads.follow("e4")).toBeUndefined();
    using second = await leads.searches.claim("e4");
    expect(second).toBeDefined();
    first?.[Symbol.dispose]();
    expect(await leads.connection.ask("KEYS", ["search:*"])).toHaveLength(1);
    expect(await follows.follow("e4")).toBe("found by leads");
  });

  test("a lease says at once that there is nothing to follow, and does not ask again at once", async () => {
    const leads = await nodeOf("over:", "leads");
    const follows = await nodeOf("over:", "follows", { beatMs: 600_000 });
    using _ = await leads.searches.claim("e4");
    const [key] = (await leads.connection.ask("KEYS", ["search:*"])) as string[];
    const named = String(key).slice("over:".length);
    // As if the node had led another one, of which it has forgotten.
    const other = await nodeOf("over:", "forgets");
    await other.connection.ask("SET", [named], ["forgets token"]);
    await nextTurn();
    const askedAt = performance.now();
    expect(await follows.follow("e4")).toBeUndefined();
    const tookMs = performance.now() - askedAt;
    expect(tookMs).toBeGreaterThan(15);
  });

  test("no lease is left if its claim was answered too late", async () => {
    const node = await nodeOf("late:", "node", { askMaxMs: 50 });
    redis.pause();
    try {
      expect(await node.searches.claim("e4")).toBeDefined();
    } finally {
      redis.resume();
    }
    expect(await node.connection.ask("EXISTS", ["nothing"])).toBe(0);
    await until(
      () => node.connection.ask("KEYS", ["search:*"]),
      (keys) => Array.isArray(keys) && keys.length === 0,
    );
  });
});
