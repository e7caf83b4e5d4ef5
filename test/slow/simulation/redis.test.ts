import { createClient as createRealClient } from "@redis/client";
import { describe, expect, test } from "vitest";
import { addScript } from "../../../src/storage/redis/limit-scripts.ts";
import { textsOf } from "../../../src/storage/redis/replies.ts";
import { type Clock, createClock } from "../../simulation/clock.ts";
import { createRandom } from "../../simulation/random.ts";
import { createSimulatedRedis } from "../../simulation/redis.ts";
import { connectClientsTo, createClient, type RedisClient } from "../../simulation/redis-client.ts";
import type { RedisFault } from "../../simulation/redis-faults.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useRedis } from "../../support/redis.ts";

const startsAt = Date.UTC(2027, 0, 1);
const socket = { connectTimeout: 1000, reconnectStrategy: () => 50 };
const eventNames = ["connect", "ready", "reconnecting", "error", "end"] as const;

/** Lists the events. A repetition of the last two events is left out, because the number of retries depends on chance. */
function record(client: Pick<RedisClient, "on">): string[] {
  const events: string[] = [];
  for (const name of eventNames) {
    client.on(name, () => {
      events.push(name);
      const [a, b, c, d] = events.slice(-4);
      if (d !== undefined && a === c && b === d) {
        events.splice(-2);
      }
    });
  }
  return events;
}

function start(...faults: readonly RedisFault[]) {
  const clock = createClock();
  const counts: string[] = [];
  const redis = createSimulatedRedis({
    ...{ clock, startsAt, faults, random: createRandom(1) },
    watch: { trace() {}, count: (kind) => void counts.push(kind) },
  });
  connectClientsTo(redis);
  const open = async (node = 1) => {
    const client = createClient({ url: `redis://node-${node}`, socket });
    const events = record(client);
    await client.connect();
    return { client, events, settled: settledOf(clock, client) };
  };
  const runTo = (ms: number) => {
    clock.at(ms, () => {});
    return clock.run(() => clock.now() >= ms);
  };
  return { clock, redis, counts, open, runTo };
}

/** Returns a function that sends a command, and the list of its replies or errors with their times. */
function settledOf(clock: Clock, client: RedisClient) {
  return (...command: string[]) => {
    const settled: { reply: unknown; atMs: number }[] = [];
    const note = (reply: unknown) => void settled.push({ reply, atMs: clock.now() });
    client.sendCommand(command).then(note, (error: Error) => note(error.message));
    return settled;
  };
}

describe("the simulated connection to Redis", () => {
  test("a simulated Redis answers in the order of the commands, by its own clock", async () => {
    const { open, runTo } = start({ kind: "redis has another time", atMs: 0, forMs: 1000, byMs: 5000 });
    const { settled } = await open();
    await runTo(100);
    const [set, get, time] = [settled("SET", "a", "♔"), settled("GET", "a"), settled("TIME")];
    await runTo(200);
    expect([...set, ...get].map(({ reply }) => reply)).toEqual(["OK", "♔"]);
    const [seconds = 0, microseconds = 0] = textsOf(time[0]?.reply).map(Number);
    expect(seconds * 1000 + microseconds / 1000).toBeGreaterThan(startsAt + 5100);
    expect(set[0]?.atMs).toBeGreaterThan(100.1);
    expect(time[0]?.atMs).toBeLessThan(101);
  });

  test("a paused simulated Redis executes the commands later, even if the client has disconnected", async () => {
    const { redis, counts, open, runTo } = start({ kind: "redis is paused", atMs: 100, forMs: 500 });
    const { client, settled } = await open();
    await runTo(100);
    const set = settled("SET", "a", "1");
    await runTo(500);
    client.destroy();
    await runTo(599);
    expect(set).toMatchObject([{ reply: "Disconnects client" }]);
    expect(redis.look("GET", "a")).toBeNull();
    await runTo(601);
    expect(redis.look("GET", "a")).toBe("1");
    expect(counts).toContain("redis is paused");
  });

  test.each([true, false])(
    "a lost connection rejects a command that is executed or not: %s",
    async (isExecuted) => {
      const kind = "redis loses a connection";
      const { redis, open, runTo } = start({ kind, atMs: 100, forMs: 500, isExecuted, times: 1 });
      const { client, events, settled } = await open();
      await runTo(150);
      const set = settled("SET", "a", "1");
      await runTo(152);
      expect(set).toMatchObject([{ reply: "Socket closed unexpectedly" }]);
      expect(redis.look("EXISTS", "a")).toBe(Number(isExecuted));
      expect(client.isReady).toBe(true);
      expect(events).toEqual(["connect", "ready", "error", "reconnecting", "connect", "ready"]);
    },
  );

  test("a simulated Redis that was cut off does not get the commands, and the connection stays silent", async () => {
    const { redis, open, runTo } = start({ kind: "redis is cut off", node: 1, atMs: 100, forMs: 100 });
    const [{ settled }, other] = [await open(1), await open(2)];
    await runTo(150);
    const [lost, kept] = [settled("SET", "a", "1"), other.settled("SET", "b", "1")];
    await runTo(300);
    const after = settled("SET", "c", "1");
    await runTo(5000);
    expect([lost, after]).toEqual([[], []]);
    expect(kept).toHaveLength(1);
    expect(redis.look("EXISTS", "a", "c")).toBe(0);
  });

  test("a simulated Redis forgets scripts and data with a restart, and refuses connections meanwhile", async () => {
    const { open, runTo } = start({ kind: "redis restarts", atMs: 100, forMs: 300, keepsData: false });
    const { events, settled } = await open();
    await runTo(50);
    const run = (command: string, script: string) => settled(command, script, "1", "window", "2", "60000");
    const unknown = run("EVALSHA", addScript.sha1);
    await runTo(60);
    const known = run("EVAL", addScript.source);
    await runTo(70);
    const again = run("EVALSHA", addScript.sha1);
    await runTo(399);
    expect(unknown[0]?.reply).toMatch(/^NOSCRIPT/);
    expect([known[0]?.reply, again[0]?.reply]).toEqual([
      [2, 60_000],
      [4, 59_990],
    ]);
    expect(events).toEqual(["connect", "ready", "error", "reconnecting", "error"]);
    await runTo(500);
    expect(events.slice(-2)).toEqual(["connect", "ready"]);
    const forgotten = run("EVALSHA", addScript.sha1);
    await runTo(510);
    expect(forgotten[0]?.reply).toMatch(/^NOSCRIPT/);
  });

  test("a full simulated Redis refuses writes only", async () => {
    const { open, runTo } = start({ kind: "redis refuses commands", atMs: 50, forMs: 100, because: "OOM" });
    const { settled } = await open();
    await runTo(60);
    const [set, get, del] = [settled("SET", "a", "1"), settled("GET", "a"), settled("DEL", "a")];
    await runTo(70);
    expect(set[0]?.reply).toMatch(/^OOM/);
    expect([get[0]?.reply, del[0]?.reply]).toEqual([null, 0]);
  });
});

describeWith("redis")("the client of the simulated Redis", () => {
  const server = useRedis();

  test("emits the same events as the real client when Redis stops and starts again", async () => {
    const real = createRealClient({ url: server.url, socket, disableOfflineQueue: true });
    const realEvents = record(real as unknown as RedisClient);
    await real.connect();
    await server.kill();
    await until(() => realEvents.includes("reconnecting") && realEvents.at(-1) === "error");
    await server.restart();
    await until(() => realEvents.at(-1) === "ready");
    real.destroy();

    const { open, runTo } = start({ kind: "redis restarts", atMs: 100, forMs: 300, keepsData: false });
    const { client, events } = await open();
    await runTo(1000);
    client.destroy();
    // A Redis that has just started may close a connection again.
    const withoutClosed = (all: readonly string[]) =>
      all.join().replaceAll("connect,error,reconnecting,", "");
    expect(withoutClosed(events)).toBe(withoutClosed(realEvents));
  });
});
