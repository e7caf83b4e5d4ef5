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

describeWith("redis")("nodes that share a Redis", () => {
  const redis = useRedis();
  let prefixes = 0;

  /** With one slot each, and patience: the machine may do much else. */
  async function nodes(count: number, askMaxMs = 10_000): Promise<TestNode[]> {
    const prefix = `searches-${prefixes++}:`;
    const opening = Array.from({ length: count }, (_, index) =>
      openNode({ id: `node-${index}`, url: redis.url, prefix, askMaxMs }),
    );
    return Promise.all(opening);
  }

  const askAll = (all: readonly TestNode[], request = validated(), signal = never) =>
    all.map(({ analyzer }) => analyzer.analyze(request, "caller", signal));
  const searchesOf = (all: readonly TestNode[]) => all.flatMap(({ searches }) => searches);
  const otherThan = (held: HeldSearch, all: readonly TestNode[]) =>
    searchesOf(all).find((one) => one !== held);
  /** When one node searches, and the others follow it. */
  async function shared(all: readonly TestNode[], followers = all.length - 1): Promise<HeldSearch> {
    const [held] = await until(
      () => searchesOf(all),
      (found) => found.length > 0,
    );
    await until(
      () => followersIn(all),
      (found) => found === followers,
    );
    expect(searchesOf(all)).toHaveLength(1);
    return held as HeldSearch;
  }
  /** Channels of searches that somebody listens to. */
  async function followersIn([node]: readonly TestNode[]): Promise<number> {
    const waiter = node as TestNode;
    const channels = await waiter.redis.ask("PUBSUB", [], ["CHANNELS", waiter.redis.channelOf("search:*")]);
    const names = Array.isArray(channels) ? channels.map(String) : [];
    const counts = await waiter.redis.ask("PUBSUB", [], ["NUMSUB", ...names]);
    return Array.isArray(counts)
      ? counts.filter((each) => typeof each === "number").reduce((a, b) => a + b, 0)
      : 0;
  }
  /** Answers whatever is searched until these are answered. */
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
  /** Resolves when the node that leads knows of a follower. */
  const isFollowed = ({ analyzer }: TestNode) => until(() => analyzer.waiters().joined > 0);
  async function read(states: AsyncIterable<Analysis>, into: number[] = []): Promise<readonly number[]> {
    for await (const { depth, stopReason } of states) {
      into.push(stopReason === undefined ? depth : -depth);
    }
    return into;
  }

  test("nodes that share a Redis search once for equal requests at the same time, and answer each", async () => {
    const all = await nodes(3);
    const answers = askAll(all);
    const held = await shared(all);
    held.answer({ bestMove: "d2d4", ponder: undefined });
    const found = await Promise.all(answers);
    expect(found.map(({ best }) => best?.uci)).toEqual(["d2d4", "d2d4", "d2d4"]);
    expect(found.map(({ cached }) => cached)).toEqual([false, false, false]);
    // From here on each knows it by itself.
    const again = await Promise.all(askAll(all));
    expect(again.map(({ cached }) => cached)).toEqual([true, true, true]);
    expect(searchesOf(all)).toHaveLength(1);
  });

  test("nodes that share a Redis know each other's answers, and charge no engine time for them", async () => {
    const [one, other] = (await nodes(2)) as [TestNode, TestNode];
    const first = one.analyzer.analyze(validated(), "caller", never);
    (await shared([one])).answer();
    await first;
    const charged: number[] = [];
    const terms = { expectedMs: 1, longestMs: 9000, onEngineTime: (ms: number) => charged.push(ms) };
    expect(await other.analyzer.analyze(validated(), "caller", never, terms)).toMatchObject({
      cached: true,
      depth: 14,
    });
    expect(await read(statesOf(other.analyzer, validated(), "caller", never, terms))).toEqual([-14]);
    expect(charged).toEqual([]);
    expect(other.searches).toEqual([]);
  });

  test("nodes that share a Redis count each answer once by its source", async () => {
    const [one, other, third] = (await nodes(3)) as [TestNode, TestNode, TestNode];
    const first = one.analyzer.analyze(validated(), "caller", never);
    (await shared([one])).answer();
    await first;
    await one.analyzer.analyze(validated(), "caller", never);
    expect(one.found).toEqual([undefined, "memory"]);
    await other.analyzer.analyze(validated(), "caller", never);
    await read(statesOf(other.analyzer, validated(), "caller", never));
    expect(other.found).toEqual(["shared", "memory"]);
    await read(statesOf(third.analyzer, validated(), "caller", never));
    expect(third.found).toEqual(["shared"]);
    // One that is followed is searched, and nothing that was kept.
    const all = [one, other, third];
    const asked = askAll(all, validated({ depth: 15 }));
    await until(
      () => followersIn(all),
      (followers) => followers === 2,
    );
    for (const { answer } of searchesOf(all)) {
      answer();
    }
    await Promise.all(asked);
    expect(all.map(({ found }) => found.at(-1))).toEqual([undefined, undefined, undefined]);
  });

  test("nodes that share a Redis pass the states of a search to the streams of its followers", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const [one, other] = all;
    const answer = one.analyzer.analyze(validated(), "caller", never);
    const held = await shared(all, 0);
    const last = other.analyzer.analyze(validated(), "caller", never);
    held.tell(5);
    const seen: number[] = [];
    const states = read(statesOf(other.analyzer, validated(), "caller", never), seen);
    // The newest one at once, and then those that follow.
    await until(() => seen.includes(5));
    held.tell(9);
    await until(() => seen.includes(9));
    held.answer();
    expect((await states).slice(-3)).toEqual([5, 9, -14]);
    expect((await last).depth).toBe(14);
    expect((await answer).depth).toBe(14);
  });

  test("nodes that share a Redis charge every follower the engine time of the search", async () => {
    const all = await nodes(2);
    const charged: number[] = [];
    const terms = { expectedMs: 1, longestMs: 9000, onEngineTime: (ms: number) => charged.push(ms) };
    const answers = all.map(({ analyzer }) => analyzer.analyze(validated(), "caller", never, terms));
    (await shared(all)).answer();
    await Promise.all(answers);
    expect(charged).toEqual([50, 50]);
  });

  test("a node goes on with a search whose caller has left, as long as others follow it", async () => {
    const all = (await nodes(3)) as [TestNode, TestNode, TestNode];
    const [leads, ...follow] = all;
    const leaving = new AbortController();
    const left = leads.analyzer.analyze(validated(), "caller", leaving.signal);
    const held = await shared(all, 0);
    const states = follow.map(({ analyzer }) => read(statesOf(analyzer, validated(), "caller", never)));
    await shared(all);
    await isFollowed(leads);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    held.answer();
    expect(await Promise.all(states)).toEqual([[-14], [-14]]);
    expect(searchesOf(all)).toHaveLength(1);
  });

  test("a node stops a search when all its callers have left, on any node", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const [leads, follows] = all;
    const leaving = [new AbortController(), new AbortController()] as const;
    const first = leads.analyzer.analyze(validated(), "caller", leaving[0].signal);
    const held = await shared(all, 0);
    const second = read(statesOf(follows.analyzer, validated(), "caller", leaving[1].signal));
    await isFollowed(leads);
    leaving[0].abort(new Error("left"));
    await expect(first).rejects.toThrow("left");
    expect(held.signal.aborted).toBe(false);
    const leaves = expect(second).rejects.toThrow("left, too");
    leaving[1].abort(new Error("left, too"));
    await leaves;
    await until(() => held.signal.aborted);
    expect(searchesOf(all)).toHaveLength(1);
  });

  test("followers of a killed node take its search over, and their streams go on", async () => {
    const all = (await nodes(3)) as [TestNode, TestNode, TestNode];
    const [leads, ...follow] = all;
    void leads.analyzer.analyze(validated(), "caller", never);
    const held = await shared(all, 0);
    const seen: number[] = [];
    const states = read(statesOf(follow[0].analyzer, validated(), "caller", never), seen);
    const answer = follow[1].analyzer.analyze(validated(), "caller", never);
    await shared(all);
    await isFollowed(leads);
    held.tell(8);
    await until(() => seen.includes(8));
    leads.redis[Symbol.dispose]();
    const [next] = await until(
      () => searchesOf(follow),
      (found) => found.length > 0,
    );
    next?.tell(2);
    next?.tell(9);
    await until(() => seen.includes(9));
    next?.answer();
    expect(await states).toEqual([8, 9, -14]);
    expect((await answer).depth).toBe(14);
    expect(searchesOf(follow)).toHaveLength(1);
    held.answer();
  });

  test("followers of a node that is cut off take its search over, and that node goes on by itself", async () => {
    await using relay = await startRelay(redis.port);
    const prefix = `searches-${prefixes++}:`;
    const leads = await openNode({
      id: "cut-off",
      url: `redis://127.0.0.1:${relay.port}`,
      prefix,
      askMaxMs: 10_000,
    });
    const follows = await openNode({ id: "whole", url: redis.url, prefix, askMaxMs: 10_000 });
    const left = leads.analyzer.analyze(validated(), "caller", never);
    const held = await shared([leads, follows], 0);
    const answer = follows.analyzer.analyze(validated(), "caller", never);
    await shared([leads, follows]);
    relay.isFrozen = true;
    (await until(() => follows.searches[0], Boolean))?.answer({ bestMove: "d2d4", ponder: undefined });
    expect((await answer).best?.uci).toBe("d2d4");
    held.answer();
    expect((await left).best?.uci).toBe("e2e4");
  });

  test("followers search for themselves if the search of another node fails or is cut short", async () => {
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

  test("nodes follow one another without a slot, and before they wait for one", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const [leads, busy] = all;
    const answer = leads.analyzer.analyze(validated(), "caller", never);
    const held = await shared(all, 0);
    const other = busy.analyzer.analyze(validated({ depth: 12 }), "caller", never);
    const own = await until(() => busy.searches[0], Boolean);
    const followed = busy.analyzer.analyze(validated(), "caller", never);
    await until(
      () => followersIn(all),
      (found) => found === 1,
    );
    expect(busy.scheduler.status()).toMatchObject({ running: 1, waiting: 0 });
    held.answer();
    expect((await followed).depth).toBe(14);
    await answer;
    own?.answer();
    await other;
  });

  test("a node refuses no follower of a finished search, though its queue is full", async () => {
    const prefix = `searches-${prefixes++}:`;
    const known = { url: redis.url, prefix, askMaxMs: 10_000 };
    const leads = await openNode({ ...known, id: "leads" });
    const full = await openNode({ ...known, id: "full", maxWaitMs: 0 });
    void leads.analyzer.analyze(validated(), "caller", never);
    const held = await shared([leads, full], 0);
    const other = full.analyzer.analyze(validated({ depth: 12 }), "caller", never);
    const own = await until(() => full.searches[0], Boolean);
    const followed = full.analyzer.analyze(validated(), "caller", never);
    await until(
      () => followersIn([full]),
      (found) => found === 1,
    );
    leads.redis[Symbol.dispose]();
    await until(() => full.scheduler.status().waiting === 1);
    own?.answer();
    (await until(() => full.searches[1], Boolean))?.answer();
    expect((await followed).depth).toBe(14);
    await other;
    held.answer();
  });

  test("an answer that time ended is shared with its followers, and not cached", async () => {
    const all = (await nodes(2)) as [TestNode, TestNode];
    const asked = validated({ movetimeMs: 500 });
    const answer = all[0].analyzer.analyze(asked, "caller", never);
    const held = await shared(all, 0);
    const states = read(statesOf(all[1].analyzer, asked, "caller", never));
    await isFollowed(all[0]);
    held.answer({ endedBy: "time" });
    expect((await answer).stopReason).toBe("movetime");
    expect(await states).toEqual([-14]);
    const again = askAll(all, asked);
    await until(() => otherThan(held, all), Boolean);
    await answering(all, again, { endedBy: "time" });
  });

  test("nodes do not share a search with another time limit or another build of the same name", async () => {
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
    // And what was found for the first one is not lost by that.
    const known = await one.analyzer.analyze(validated(), "caller", never);
    expect(known).toMatchObject({ cached: true, best: { uci: "e2e4" } });
  });

  test("nodes do not use Redis for a shallow search", async () => {
    const [node] = (await nodes(1)) as [TestNode];
    expect(isWorthSharing({ depth: 9, nodes: undefined })).toBe(false);
    expect(isWorthSharing({ depth: 10, nodes: undefined })).toBe(true);
    expect(isWorthSharing({ depth: undefined, nodes: 9999 })).toBe(false);
    for (const [depth, leases] of [
      [9, 0],
      [10, 1],
    ] as const) {
      const answer = node.analyzer.analyze(validated({ depth }), "caller", never);
      const held = await until(() => node.searches.pop(), Boolean);
      expect(await node.redis.ask("KEYS", ["search:*"])).toHaveLength(leases);
      held?.answer();
      await answer;
    }
  });

  test("nodes answer every request once, whatever happens to Redis meanwhile", async () => {
    const all = await nodes(3, 1000);
    // It goes while one leads and two follow.
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
      // It is gone.
      const second = askAll(all, validated({ depth: 15 }));
      await until(() => searchesOf(all).length === 6);
      for (const search of searchesOf(all)) {
        search.answer();
      }
      await Promise.all(second);
    } finally {
      redis.resume();
    }
    // It is back.
    await until(() => all.every(({ redis: { health } }) => health.kind === "up"));
    await until(async () => {
      const before = searchesOf(all).length;
      const third = askAll(all, validated({ depth: 16 + (before % 10) }));
      await until(() => searchesOf(all).length > before);
      // Those that search for themselves begin at once.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const begun = searchesOf(all).slice();
      await answering(all, third);
      return begun.length - before === 1;
    });
    expect(held.signal.aborted).toBe(false);
  });
});
