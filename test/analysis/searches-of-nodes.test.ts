import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Analysis, isWorthSharing } from "../../src/analysis/analysis.ts";
import type { SearchDone } from "../../src/engine/engine.ts";
import { buildOf } from "../engine/build-of.ts";
import { describeWith } from "../support/needs.ts";
import { until, useRedis } from "../support/redis.ts";
import { startRelay } from "../support/relay.ts";
import { statesOf } from "../support/states-of.ts";
import { validated } from "./made-up.ts";
import { type HeldSearch, openNode, type TestNode } from "./open-node.ts";

const never = new AbortController().signal;
type ClaimTimes = Parameters<typeof openNode>[0]["claimTimes"];

describeWith("redis")("nodes that share a Redis", () => {
  const redis = useRedis();
  let prefixes = 0;

  async function nodes(count: number, askMaxMs = 10_000, claimTimes?: ClaimTimes): Promise<TestNode[]> {
    const prefix = `searches-${prefixes++}:`;
    const options = { url: redis.url, prefix, askMaxMs, claimTimes };
    const opening = Array.from({ length: count }, () => openNode(options));
    return Promise.all(opening);
  }

  const askAll = (all: readonly TestNode[], request = validated(), signal = never) =>
    all.map(({ analyzer }) => analyzer.analyze(request, "caller", signal));
  const searchesOf = (all: readonly TestNode[]) => all.flatMap(({ searches }) => searches);
  const otherThan = (held: HeldSearch, all: readonly TestNode[]) =>
    searchesOf(all).find((one) => one !== held);
  /** Waits until `waiting` nodes wait for a search that another node runs. Returns this search. */
  async function shared(all: readonly TestNode[], waiting = all.length - 1): Promise<HeldSearch> {
    const [held] = await until(
      () => searchesOf(all),
      (found) => found.length > 0,
    );
    await until(() => all.filter(({ waits }) => waits() > 0).length === waiting);
    expect(searchesOf(all)).toHaveLength(1);
    return held as HeldSearch;
  }
  async function answering(
    all: readonly TestNode[],
    asked: readonly Promise<Analysis>[],
    done: Partial<SearchDone> = {},
  ) {
    const timer = setInterval(() => {
      for (const search of searchesOf(all)) {
        search.answer(done);
      }
    }, 5);
    await Promise.all(asked).finally(() => clearInterval(timer));
  }
  /** Waits until Redis contains no claim. A node stores the result of a search first, and then deletes the claim. */
  const hasShared = ({ redis: { ask } }: TestNode) =>
    until(
      () => ask("KEYS", ["claim:*"]),
      (keys) => Array.isArray(keys) && keys.length === 0,
    );
  async function read(states: AsyncIterable<Analysis>, into: number[] = []): Promise<readonly number[]> {
    for await (const { depth, stopReason } of states) {
      into.push(stopReason === undefined ? depth : -depth);
    }
    return into;
  }

  test("nodes that share a Redis run one search for concurrent equal requests", async () => {
    const all = await nodes(3);
    const answers = askAll(all);
    const held = await shared(all);
    held.answer({ bestMove: "d2d4", ponder: undefined });
    const found = await Promise.all(answers);
    expect(found.map(({ best }) => best?.uci)).toEqual(["d2d4", "d2d4", "d2d4"]);
    expect(found.map(({ cached }) => cached)).toEqual([false, false, false]);
    // Now the result is in the memory of each node.
    const again = await Promise.all(askAll(all));
    expect(again.map(({ cached }) => cached)).toEqual([true, true, true]);
    expect(searchesOf(all)).toHaveLength(1);
  });

  test("nodes that share a Redis use each other's results, and charge no engine time for these results", async () => {
    const [one, other] = (await nodes(2)) as [TestNode, TestNode];
    const first = one.analyzer.analyze(validated(), "caller", never);
    (await shared([one])).answer();
    await first;
    await hasShared(one);
    const charged: number[] = [];
    const terms = { expectedMs: 1, longestMs: 9000, onEngineTime: (ms: number) => charged.push(ms) };
    expect(await other.analyzer.analyze(validated(), "caller", never, terms)).toMatchObject({
      cached: true,
      depth: 14,
    });
    expect(charged).toEqual([]);
    expect(other.searches).toEqual([]);
  });

  test("nodes that share a Redis count each analysis once, by its cache tier", async () => {
    const [one, other, third] = (await nodes(3)) as [TestNode, TestNode, TestNode];
    const first = one.analyzer.analyze(validated(), "caller", never);
    (await shared([one])).answer();
    await first;
    await hasShared(one);
    await one.analyzer.analyze(validated(), "caller", never);
    expect(one.found).toEqual([undefined, "memory"]);
    await other.analyzer.analyze(validated(), "caller", never);
    await read(statesOf(other.analyzer, validated(), "caller", never));
    expect(other.found).toEqual(["shared", "memory"]);
    await read(statesOf(third.analyzer, validated(), "caller", never));
    expect(third.found).toEqual(["shared"]);
    // An answer from the running search of another node counts as searched, and not as cached.
    const all = await nodes(3);
    const asked = askAll(all);
    (await shared(all)).answer();
    await Promise.all(asked);
    expect(all.map(({ found }) => found)).toEqual([[undefined], [undefined], [undefined]]);
  });

  test("nodes that share a Redis charge the engine time of a search to every waiting caller", async () => {
    const all = await nodes(2);
    const charged: number[] = [];
    const terms = { expectedMs: 1, longestMs: 9000, onEngineTime: (ms: number) => charged.push(ms) };
    const answers = all.map(({ analyzer }) => analyzer.analyze(validated(), "caller", never, terms));
    (await shared(all)).answer();
    await Promise.all(answers);
    expect(charged).toEqual([50, 50]);
  });

  test("a caller who disconnects while another node searches is charged nothing, and the search continues", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const charged: number[] = [];
    const terms = { expectedMs: 1, longestMs: 9000, onEngineTime: (ms: number) => charged.push(ms) };
    const answer = all[0].analyzer.analyze(validated(), "caller", never);
    const held = await shared(all, 0);
    const leaving = new AbortController();
    const left = all[1].analyzer.analyze(validated(), "caller", leaving.signal, terms);
    await shared(all);
    leaving.abort(new Error("the deadline has passed"));
    await expect(left).rejects.toThrow("the deadline has passed");
    expect(charged).toEqual([]);
    held.answer();
    expect((await answer).depth).toBe(14);
  });

  test("a stream never waits for the search of another node, and a unary request waits for the search of a stream", async () => {
    const all = (await nodes(3)) as [TestNode, TestNode, TestNode];
    const [holds, streams, waits] = all;
    const first: number[] = [];
    const firstStates = read(statesOf(holds.analyzer, validated(), "caller", never), first);
    const held = await shared(all, 0);
    const answer = waits.analyzer.analyze(validated(), "caller", never);
    await shared(all, 1);
    const seen: number[] = [];
    const states = read(statesOf(streams.analyzer, validated(), "caller", never), seen);
    const own = await until(() => streams.searches[0], Boolean);
    own?.report(5);
    await until(() => seen.includes(5));
    expect(first).toEqual([]);
    held.answer({ bestMove: "d2d4", ponder: undefined });
    expect((await answer).best?.uci).toBe("d2d4");
    expect(await firstStates).toEqual([-14]);
    own?.answer();
    expect(await states).toEqual([5, -14]);
    expect(waits.searches).toEqual([]);
  });

  test("a node that waits for another node starts its own search when a stream asks for the same search", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const [holds, waits] = all;
    const first = holds.analyzer.analyze(validated(), "caller", never);
    const held = await shared(all, 0);
    const answer = waits.analyzer.analyze(validated(), "caller", never);
    await shared(all);
    const states = read(statesOf(waits.analyzer, validated(), "caller", never));
    const own = await until(() => waits.searches[0], Boolean);
    own?.report(7);
    own?.answer({ bestMove: "d2d4", ponder: undefined });
    expect(await states).toEqual([7, -14]);
    expect((await answer).best?.uci).toBe("d2d4");
    held.answer();
    expect((await first).best?.uci).toBe("e2e4");
  });

  test("if all callers of a searching node disconnect, the node ends its claim immediately, and a waiting node starts the search", async () => {
    // If the node did not end its claim, the claim would outlive this test.
    const claimTimes = { leaseMs: 600_000, renewMs: 50, pollMs: 5 };
    const all = (await nodes(2, 10_000, claimTimes)) as [TestNode, TestNode];
    const [holds, waits] = all;
    const leaving = new AbortController();
    const left = holds.analyzer.analyze(validated(), "caller", leaving.signal);
    const held = await shared(all, 0);
    const answer = waits.analyzer.analyze(validated(), "caller", never);
    await shared(all);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(held.signal.aborted).toBe(true);
    const own = await until(() => waits.searches[0], Boolean);
    own?.answer();
    expect((await answer).depth).toBe(14);
  });

  test("if a searching node loses its connection to Redis, one of the waiting nodes searches instead", async () => {
    await using relay = await startRelay(redis.port);
    const prefix = `searches-${prefixes++}:`;
    const [holds, ...waiting] = (await Promise.all(
      [relay.port, redis.port, redis.port].map((port) =>
        openNode({ url: `redis://127.0.0.1:${port}`, prefix, askMaxMs: 10_000 }),
      ),
    )) as [TestNode, TestNode, TestNode];
    const all = [holds, ...waiting];
    const left = holds.analyzer.analyze(validated(), "caller", never);
    const held = await shared(all, 0);
    const answers = askAll(waiting);
    await shared(all);
    relay.isFrozen = true;
    const [own] = await until(
      () => searchesOf(waiting),
      ({ length }) => length > 0,
    );
    own?.answer({ bestMove: "d2d4", ponder: undefined });
    expect((await Promise.all(answers)).map(({ best }) => best?.uci)).toEqual(["d2d4", "d2d4"]);
    expect(searchesOf(waiting)).toHaveLength(1);
    held.answer();
    expect((await left).best?.uci).toBe("e2e4");
  });

  test("a node renews its claim until the search ends", async () => {
    const all = await nodes(2);
    const answers = askAll(all);
    const held = await shared(all);
    // This is longer than the lease.
    await sleep(1500);
    expect(searchesOf(all)).toHaveLength(1);
    held.answer();
    expect((await Promise.all(answers)).map(({ depth }) => depth)).toEqual([14, 14]);
  });

  test("if the search of another node fails or is stopped, the waiting nodes search again", async () => {
    for (const end of [
      (held: HeldSearch) => held.fail(new Error("no engine")),
      (held: HeldSearch) => held.answer({ endedBy: "stop" }),
    ]) {
      const all = await nodes(2);
      const asked = askAll(all).map((answer) => answer.then(({ stopReason }) => stopReason, String));
      const held = await shared(all);
      end(held);
      const next = await until(() => otherThan(held, all), Boolean);
      next?.answer();
      expect((await Promise.all(asked)).filter((reason) => reason === "depth")).toHaveLength(1);
    }
  });

  test("a request that waits for another node occupies no slot and no queue position", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const [holds, busy] = all;
    const answer = holds.analyzer.analyze(validated(), "caller", never);
    const held = await shared(all, 0);
    const other = busy.analyzer.analyze(validated({ depth: 12 }), "caller", never);
    const own = await until(() => busy.searches[0], Boolean);
    const waiting = busy.analyzer.analyze(validated(), "caller", never);
    await until(() => busy.waits() === 1);
    expect(busy.scheduler.status()).toMatchObject({ running: 1, waiting: 0 });
    held.answer();
    expect((await waiting).depth).toBe(14);
    await answer;
    own?.answer();
    await other;
  });

  test.each(["depth", "time"] as const)(
    "an idle node runs a search that waits in the queue of a busy node, and the busy node takes the answer: ended by %s",
    async (endedBy) => {
      const [busy, idle] = (await nodes(2)) as [TestNode, TestNode];
      const long = busy.analyzer.analyze(validated({ depth: 29 }), "a", never);
      await until(() => busy.searches.length === 1);
      const queued = busy.analyzer.analyze(validated({ depth: 20 }), "a", never);
      await until(() => busy.scheduler.status().waiting === 1);
      const answer = idle.analyzer.analyze(validated({ depth: 20 }), "b", never);
      const own = await until(() => idle.searches[0], Boolean);
      // The busy node leaves its queue, and waits for the answer.
      await until(() => busy.scheduler.status().waiting === 0);
      own?.answer({ endedBy, bestMove: "d2d4", ponder: undefined });
      expect((await Promise.all([queued, answer])).map(({ best }) => best?.uci)).toEqual(["d2d4", "d2d4"]);
      expect(busy.searches).toHaveLength(1);
      busy.searches[0]?.answer();
      await long;
    },
  );

  test("a busy node that gets a slot just after an idle node has ended the search takes the answer of the idle node", async () => {
    const prefix = `searches-${prefixes++}:`;
    // The busy node looks for searches of other nodes only when it gets a slot.
    const claimTimes = { leaseMs: 1000, renewMs: 50, pollMs: 5, queuePollMs: 60_000 };
    const options = { url: redis.url, prefix, askMaxMs: 10_000, claimTimes };
    const [busy, idle] = [await openNode(options), await openNode(options)];
    const long = busy.analyzer.analyze(validated({ depth: 29 }), "a", never);
    await until(() => busy.searches.length === 1);
    const queued = busy.analyzer.analyze(validated({ depth: 20 }), "a", never);
    await until(() => busy.scheduler.status().waiting === 1);
    const answer = idle.analyzer.analyze(validated({ depth: 20 }), "b", never);
    (await until(() => idle.searches[0], Boolean))?.answer({
      endedBy: "time",
      bestMove: "d2d4",
      ponder: undefined,
    });
    await answer;
    await until(async () => ((await idle.redis.ask("KEYS", ["found:*"])) as string[]).length === 1);
    busy.searches[0]?.answer();
    await long;
    expect((await queued).best?.uci).toBe("d2d4");
    expect(busy.searches).toHaveLength(1);
    // The slot is free again.
    await until(() => busy.scheduler.status().running === 0);
  });

  test("nodes that get a slot for the same search at the same time run one search, and the others give their slots back", async () => {
    for (let round = 0; round < 20; round++) {
      const all = await nodes(3);
      const answers = askAll(all);
      const held = await shared(all);
      const idle = all.filter(({ searches }) => searches.length === 0);
      expect(idle.map(({ scheduler }) => scheduler.status().running)).toEqual([0, 0]);
      held.answer();
      await Promise.all(answers);
    }
  });

  test("a result that reached its time limit is sent to waiting nodes, and is not cached", async () => {
    const all = await nodes(3);
    const request = validated({ movetimeMs: 500 });
    const answers = askAll(all, request);
    const held = await shared(all);
    held.answer({ endedBy: "time", bestMove: "d2d4", ponder: undefined });
    const found = await Promise.all(answers);
    expect(found.map(({ stopReason, best }) => [stopReason, best?.uci])).toEqual(
      Array(3).fill(["movetime", "d2d4"]),
    );
    const again = askAll(all, request);
    await until(() => otherThan(held, all), Boolean);
    await answering(all, again, { endedBy: "time" });
    expect((await Promise.all(again)).map(({ best }) => best?.uci)).toEqual(Array(3).fill("e2e4"));
  });

  test("two nodes start two searches if their time limits or their engine files differ", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const [one, other] = all;
    const asked = [
      one.analyzer.analyze(validated({ movetimeMs: 500 }), "caller", never),
      other.analyzer.analyze(validated({ movetimeMs: 600 }), "caller", never),
    ];
    await until(() => searchesOf(all).length === 2);
    for (const held of searchesOf(all)) {
      held.answer();
    }
    await Promise.all(asked);
    const rebuilt = validated({ build: buildOf({ sha256: "1".repeat(64) }) });
    const anew = other.analyzer.analyze(rebuilt, "caller", never);
    (await until(() => other.searches[1], Boolean))?.answer({ bestMove: "d2d4", ponder: undefined });
    expect((await anew).best?.uci).toBe("d2d4");
    // The search with the other build does not replace the result of the first search.
    const known = await one.analyzer.analyze(validated(), "caller", never);
    expect(known).toMatchObject({ cached: true, best: { uci: "e2e4" } });
  });

  test("nodes do not use Redis for a shallow search", async () => {
    const [node] = (await nodes(1)) as [TestNode];
    expect(isWorthSharing({ depth: 9, nodes: undefined })).toBe(false);
    expect(isWorthSharing({ depth: 10, nodes: undefined })).toBe(true);
    expect(isWorthSharing({ depth: undefined, nodes: 9999 })).toBe(false);
    for (const [depth, claims] of [
      [9, 0],
      [10, 1],
    ] as const) {
      const answer = node.analyzer.analyze(validated({ depth }), "caller", never);
      const held = await until(() => node.searches.pop(), Boolean);
      expect(await node.redis.ask("KEYS", ["claim:*"])).toHaveLength(claims);
      held?.answer();
      await answer;
    }
  });

  test("nodes answer every request although Redis pauses and resumes", async () => {
    const all = await nodes(3, 1000);
    // Redis is paused while one node searches and two nodes wait.
    const first = askAll(all);
    const held = await shared(all);
    redis.pause();
    try {
      const next = await until(
        () => searchesOf(all),
        (found) => found.length === 3,
      );
      for (const search of next) {
        search.answer();
      }
      expect((await Promise.all(first)).map(({ depth }) => depth)).toEqual([14, 14, 14]);
      const second = askAll(all, validated({ depth: 15 }));
      await until(() => searchesOf(all).length === 6);
      for (const search of searchesOf(all)) {
        search.answer();
      }
      await Promise.all(second);
    } finally {
      redis.resume();
    }
    await until(() => all.every(({ redis: { health } }) => health.kind === "up"));
    await until(async () => {
      const before = searchesOf(all).length;
      const third = askAll(all, validated({ depth: 16 + (before % 10) }));
      await until(() => searchesOf(all).length > before);
      // Without Redis each node searches immediately.
      await sleep(100);
      const begun = searchesOf(all).slice();
      await answering(all, third);
      return begun.length - before === 1;
    });
    expect(held.signal.aborted).toBe(false);
  });
});
