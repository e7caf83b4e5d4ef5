import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Redis } from "../../../src/storage/redis/connection.ts";
import { createOutbox, type Outbox } from "../../../src/storage/redis/outbox.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";

const hasty = { operationMaxMs: 200, connectMaxMs: 5000, heartbeatMs: 50, retryMaxMs: 100 };

describeWith("redis")("an outbox that is closed", () => {
  const server = useRedis();
  const connect = useConnections(server);

  function addTo(outbox: Outbox, count: number): void {
    for (let added = 0; added < count; added++) {
      void outbox.put({ key: "window", work: "add", words: [1, 60_000], validMs: 60_000 });
    }
  }
  const counted = async (redis: Redis) => Number(await redis.ask("HGET", ["window"], ["used"]));

  test("an outbox that is closed waits for the entries under way, and sends the rest", async () => {
    const redis = await connect();
    const outbox = createOutbox(redis, "outbox:a");
    addTo(outbox, 60);
    await Promise.resolve();
    addTo(outbox, 500);
    expect(await outbox.close()).toBe(0);
    expect(await counted(redis)).toBe(560);
  });

  test("an outbox that is closed waits for a Redis that was lost a moment ago", async () => {
    const redis = await connect(undefined, hasty);
    const outbox = createOutbox(redis, "outbox:a");
    server.pause();
    addTo(outbox, 1);
    await until(() => redis.health.kind === "down");
    const closed = outbox.close();
    await sleep(200);
    server.resume();
    expect(await closed).toBe(0);
    expect(await counted(redis)).toBe(1);
  });

  test("an outbox that is closed while Redis stands still gives up, and says how much it has forgotten", async () => {
    const redis = await connect(undefined, hasty);
    server.pause();
    const outbox = createOutbox(redis, "outbox:a", { closingMaxMs: 300 });
    addTo(outbox, 7);
    // Redis stands still until the answer is there: an outbox that waits for Redis would never close.
    expect(await outbox.close()).toBe(7);
    server.resume();
  });
});
