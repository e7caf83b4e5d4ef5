import { describe, expect, onTestFinished, test } from "vitest";
import type { Findings, JudgedRequest } from "../../src/analysis/analysis.ts";
import { createAnalyzer } from "../../src/analysis/analyzer.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import type { SearchEvent } from "../../src/engine/engine.ts";
import type { SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { giveClockBack, takeClock, wait } from "../engine/clock.ts";
import { statesOf } from "../support/states-of.ts";
import { analyzerOf } from "./analyzer-of.ts";
import { doneOf, judgedOf, scripted, snapshotOf } from "./made-up.ts";

const never = new AbortController().signal;

describe("equal requests at the same time", () => {
  /** Ends when it is told to. */
  function held(...events: readonly SearchEvent[]) {
    const gate = Promise.withResolvers<void>();
    const { search, jobs } = scripted(...events);
    const waiting: SearchWithRetry = async (build, job, signal, onProgress) => {
      await Promise.race([
        gate.promise,
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ]);
      return search(build, job, signal, onProgress);
    };
    return { search: waiting, jobs, open: gate.resolve };
  }

  test("equal requests at the same time share one search, and each has the answer to its own request", async () => {
    const { search, jobs, open } = held(doneOf());
    const analyzer = analyzerOf(search);
    const warnings = [{ code: "clocks_defaulted", message: "…", field: "fen" }];
    const requests = [judgedOf(), judgedOf({ warnings }), judgedOf()];
    const answers = requests.map((request, index) => analyzer.analyze(request, `caller ${index}`, never));
    const watched = Array.fromAsync(statesOf(analyzer, judgedOf(), "watcher", never));
    await new Promise(setImmediate);
    open();
    for (const [index, answer] of (await Promise.all(answers)).entries()) {
      expect(answer.request).toBe(requests[index]);
      expect(answer).toMatchObject({ depth: 14, cached: false, warnings: requests[index]?.warnings });
    }
    expect((await watched).at(-1)).toMatchObject({ stopReason: "depth" });
    expect(jobs).toHaveLength(1);
  });

  test("a caller that watches a shared search gets its newest state at once", async () => {
    const over = Promise.withResolvers<void>();
    const search: SearchWithRetry = async (_build, _job, _signal, onProgress) => {
      onProgress?.({ kind: "progress", snapshot: snapshotOf({ depth: 9 }) });
      await over.promise;
      return doneOf();
    };
    const analyzer = analyzerOf(search);
    const answer = analyzer.analyze(judgedOf(), "first", never);
    await new Promise(setImmediate);
    const states = statesOf(analyzer, judgedOf(), "second", never)[Symbol.asyncIterator]();
    expect((await states.next()).value).toMatchObject({ depth: 9, stopReason: undefined });
    over.resolve();
    expect((await states.next()).value).toMatchObject({ stopReason: "depth" });
    expect(await answer).toMatchObject({ stopReason: "depth" });
  });

  test("equal requests lose nothing when the first caller leaves", async () => {
    const { search, open } = held(doneOf());
    const analyzer = analyzerOf(search);
    const leaving = new AbortController();
    const first = analyzer.analyze(judgedOf(), "first", leaving.signal);
    const second = analyzer.analyze(judgedOf(), "second", never);
    await new Promise(setImmediate);
    leaving.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    open();
    expect(await second).toMatchObject({ stopReason: "depth" });
  });

  test("each of several equal requests waits for a slot from its own arrival", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const { search, open } = held(doneOf());
    const analyzer = analyzerOf(search);
    const holder = analyzer.analyze(judgedOf({ depth: 2 }), "holder", never);
    const early = analyzer.analyze(judgedOf(), "early", never);
    await wait(60);
    const late = analyzer.analyze(judgedOf(), "late", never);
    await wait(30);
    open();
    const waits = (await Promise.all([holder, early, late])).map(({ queueMs }) => queueMs);
    expect(waits).toEqual([0, 90, 30]);
  });

  test.each<[string, Partial<JudgedRequest>, Partial<JudgedRequest>]>([
    ["they have other limits of time", { movetimeMs: 500 }, { movetimeMs: 600 }],
    ["the engine is weakened: its answers are dice", { weakened: true }, { weakened: true }],
    ["their depths differ", { depth: 8 }, { depth: 9 }],
    ["their nodes differ", { nodes: 800 }, { nodes: 900 }],
    ["their moves differ", { searchMoves: ["e2e4"] }, { searchMoves: ["e2e4", "d2d4"] }],
  ])("requests share no search if %s", async (_, one, other) => {
    const { search, jobs, open } = held(doneOf());
    const analyzer = analyzerOf(search, 2);
    const answers = [one, other].map((told) => analyzer.analyze(judgedOf(told), "somebody", never));
    open();
    await Promise.all(answers);
    expect(jobs).toHaveLength(2);
  });

  test("requests share a search if their longest movetime is the same, stated or implied", async () => {
    const { search, jobs, open } = held(doneOf({ endedBy: "time" }));
    const analyzer = analyzerOf(search, 2);
    const answers = [undefined, 9000].map((movetimeMs) =>
      analyzer.analyze(judgedOf({ movetimeMs }), "somebody", never),
    );
    open();
    // The reason is the request's own, though the search is one.
    expect(await Promise.all(answers)).toMatchObject([
      { stopReason: "server_limit" },
      { stopReason: "movetime" },
    ]);
    expect(jobs).toHaveLength(1);
  });
});

describe("a search that two ask for while it waits", () => {
  /** One search holds the slot and is ended by hand; a batch has many waiting. In which order depths are searched. */
  function crowded() {
    const searched: (number | undefined)[] = [];
    const running: (() => void)[] = [];
    const search: SearchWithRetry = (_build, { depth }, signal) => {
      searched.push(depth);
      return new Promise((resolve, reject) => {
        running.push(() => resolve(doneOf()));
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    };
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 600_000 });
    const cache = createMemoryCache<Findings>({ bytes: 0 });
    const analyzer = createAnalyzer({ search, scheduler, cache, movetimeMaxMs: 9000 });
    const ended: Promise<unknown>[] = [];
    const ask = (depth: number, flow: string) => {
      const leaving = new AbortController();
      // The same cost for all depths, so that nothing but their places decides.
      const request = judgedOf({ depth: 14, multipv: 1, effectiveOptions: { depth }, movetimeMs: 60 });
      ended.push(analyzer.analyze({ ...request, depth }, flow, leaving.signal).catch(() => {}));
      return leaving;
    };
    const settle = () => new Promise(setImmediate);
    async function finish() {
      await settle();
      for (let at = 0; at < running.length; at++) {
        running[at]?.();
        await settle();
        await settle();
      }
      await Promise.all(ended);
      return searched.slice(1);
    }
    return { ask, finish, settle, scheduler };
  }

  test("a shared search keeps its place in the queue if its first caller leaves", async () => {
    const { ask, finish, settle } = crowded();
    ask(20, "batch");
    const first = ask(25, "single");
    for (const depth of [21, 22]) {
      ask(depth, "batch");
    }
    ask(25, "batch");
    ask(23, "batch");
    await settle();
    first.abort();
    expect(await finish()).toEqual([25, 21, 22, 23]);
  });

  test("a shared search keeps its place in the queue if a caller who joined leaves", async () => {
    const { ask, finish, settle } = crowded();
    for (const depth of [20, 21, 25]) {
      ask(depth, "batch");
    }
    const single = ask(25, "single");
    ask(24, "batch");
    await settle();
    single.abort();
    expect(await finish()).toEqual([21, 25, 24]);
  });

  test("a shared search counts once, however many callers ask for it", async () => {
    const { ask, finish, scheduler, settle } = crowded();
    ask(20, "batch");
    for (let caller = 0; caller < 20; caller++) {
      ask(25, `caller ${caller % 10}`);
    }
    await settle();
    expect(scheduler.standing()).toMatchObject({ running: 1, waiting: 1 });
    expect(await finish()).toEqual([25]);
    expect(scheduler.standing()).toMatchObject({ running: 0, waiting: 0 });
  });
});
