import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Analysis, SearchResult, ValidatedRequest } from "../../src/analysis/analysis.ts";
import { type Analyzer, createAnalyzer } from "../../src/analysis/analyzer.ts";
import type { Followed, Sharing } from "../../src/analysis/flight.ts";
import { createScheduler, type Scheduler, type Work } from "../../src/analysis/scheduler.ts";
import {
  EngineFailure,
  type FailureKind,
  type SearchDone,
  type SearchEvent,
} from "../../src/engine/engine.ts";
import type { SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import type { AnswerCache, AnswerStore } from "../../src/storage/ports.ts";
import { buildOf } from "../engine/build-of.ts";
import { giveClockBack, takeClock, wait } from "../engine/clock.ts";
import { statesOf } from "../support/states-of.ts";
import { analyzerOf, endless } from "./analyzer-of.ts";
import { doneOf, lineOf, scripted, snapshotOf, validated } from "./made-up.ts";

const never = new AbortController().signal;

const analyze = (request: ValidatedRequest, ...script: readonly (SearchEvent | Error)[]): Promise<Analysis> =>
  analyzerOf(scripted(...script).search).analyze(request, "somebody", never);

/** Returns a scheduler, and a list of the searches that were passed to `enter`. */
function recordingScheduler(): { readonly scheduler: Scheduler; readonly works: readonly Work[] } {
  const works: Work[] = [];
  const slots = createScheduler({ slots: 1, maxWaitMs: 1000 });
  const enter: Scheduler["enter"] = (work, signal) => {
    works.push(work);
    return slots.enter(work, signal);
  };
  return { scheduler: { ...slots, enter }, works };
}

describe("a search", () => {
  test("if the build falls back to another one during a search, the result is not cached under the digest of the first build", async () => {
    const request = validated({ depth: 9 });
    const digests = { sha256: request.build.sha256 };
    const build = Object.defineProperty({ ...request.build }, "sha256", { get: () => digests.sha256 });
    const { search } = scripted(doneOf({ endedBy: "depth" }));
    const fallingBack: SearchWithRetry = (...searched) => {
      digests.sha256 = "1".repeat(64);
      return search(...searched);
    };
    const analyzer = analyzerOf(fallingBack);
    const first = digests.sha256;
    await analyzer.analyze({ ...request, build }, "somebody", never);
    digests.sha256 = first;
    expect(await analyzer.analyze({ ...request, build }, "somebody", never)).toMatchObject({ cached: false });
  });

  test("a search uses the limits and options of the request", async () => {
    const { search, jobs } = scripted(doneOf());
    const asked = {
      depth: 9,
      nodes: 5000,
      multipv: 3,
      movetimeMs: 700,
      searchMoves: ["d2d4", "e2e4"],
      options: { skill_level: 3 },
    };
    const request = validated(asked);
    await analyzerOf(search).analyze(request, "somebody", never);
    expect(jobs).toEqual([{ position: request.position, ...asked }]);
  });

  test("if a request lists all legal moves to search, the engine gets no list, but the analysis still shows the listed moves", async () => {
    const snapshot = snapshotOf({ lines: [lineOf(["e1d1"])] });
    const { search, jobs } = scripted(doneOf({ snapshot, bestMove: "e1d1", ponder: undefined }));
    const request = validated({ fen: "8/8/8/8/8/4k2p/8/4K3 w - - 0 1", searchMoves: ["e1d1", "e1f1"] });
    const analysis = await analyzerOf(search).analyze(request, "somebody", never);
    expect(jobs).toMatchObject([{ searchMoves: [] }]);
    expect(analysis.request.searchMoves).toEqual(["e1d1", "e1f1"]);
  });

  test("a search without a time limit runs up to the time limit of the service", async () => {
    const { search, jobs } = scripted(doneOf());
    await analyzerOf(search).analyze(validated(), "somebody", never);
    expect(jobs).toMatchObject([{ movetimeMs: 9000 }]);
  });

  test("a search runs up to the caller's time limit, and the scheduler gets the expected time of the search", async () => {
    const { search, jobs } = scripted(doneOf());
    const { scheduler, works } = recordingScheduler();
    const cache = createMemoryCache<SearchResult>({ bytes: 1e6 });
    const analyzer = createAnalyzer({ search, hasRoom: () => false, scheduler, cache, movetimeMaxMs: 9000 });
    const terms = { expectedMs: 123, longestMs: 4567, onEngineTime() {} };
    const request = validated({ depth: 30 });
    await analyzer.analyze(request, "somebody", never, terms);
    expect(jobs).toMatchObject([{ movetimeMs: 4567 }]);
    expect(works.map(({ flow, expectMs }) => [flow, expectMs()])).toEqual([["somebody", 4567]]);
  });

  test("the expected time of a waiting search increases when a similar search takes longer than expected", async () => {
    const { search } = scripted(
      doneOf({
        snapshot: snapshotOf({ counters: { ...snapshotOf().counters, timeMs: 500 } }),
        endedBy: "depth",
      }),
    );
    const { scheduler, works } = recordingScheduler();
    const cache = createMemoryCache<SearchResult>({ bytes: 0 });
    const analyzer = createAnalyzer({ search, hasRoom: () => false, scheduler, cache, movetimeMaxMs: 9000 });
    const request = validated({ depth: 14 });
    await analyzer.analyze(request, "somebody", never);
    const [work] = works;
    const afterOne = work?.expectMs();
    await analyzer.analyze(request, "another", never);
    expect(work?.expectMs()).toBeGreaterThan(afterOne ?? Number.NaN);
    expect(work?.expectMs()).toBe(analyzer.timeOf(request, 9000).expectedMs);
  });

  test("the expected time of a search is at most its movetime, or the movetime of the plan if the request has no movetime", () => {
    const { timeOf } = analyzerOf(endless);
    expect(timeOf(validated({ depth: 30, movetimeMs: 700 }), 5000)).toEqual({
      expectedMs: 700,
      longestMs: 700,
    });
    expect(timeOf(validated({ depth: 30 }), 5000)).toEqual({ expectedMs: 5000, longestMs: 5000 });
  });

  test("a request with a finished game is answered without a search and without a slot", async () => {
    const { search, jobs } = scripted(doneOf());
    const request = validated({ fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", depth: 5 });
    const analyzer = analyzerOf(search, 0);
    expect(await analyzer.analyze(request, "somebody", never)).toMatchObject({
      stopReason: "terminal",
      best: undefined,
      ponder: undefined,
      lines: [],
      depth: 0,
      counters: { nodes: 0, timeMs: 0 },
    });
    expect(await Array.fromAsync(statesOf(analyzer, request, "somebody", never))).toHaveLength(1);
    expect(jobs).toEqual([]);
  });

  test("the next search starts before the previous result is converted and cached", async () => {
    const order: string[] = [];
    const search: SearchWithRetry = async (_build, { depth }) => {
      // A real search also needs several microtasks to reach the engine.
      for (let step = 0; step < 10; step++) {
        await Promise.resolve();
      }
      order.push(`search ${depth}`);
      return doneOf();
    };
    const cache: AnswerCache<SearchResult> = {
      ...createMemoryCache<SearchResult>({ bytes: 1e6 }),
      set: () => order.push("keep"),
    };
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 60_000 });
    const analyzer = createAnalyzer({ search, hasRoom: () => false, scheduler, cache, movetimeMaxMs: 9000 });
    await Promise.all([8, 9].map((depth) => analyzer.analyze(validated({ depth }), "somebody", never)));
    expect(order).toEqual(["search 8", "search 9", "keep", "keep"]);
  });
});

describe("the states of a search", () => {
  const progress = { kind: "progress", snapshot: snapshotOf({ depth: 13 }) } as const;

  test("a reader of a search gets an analysis for each depth, and the last analysis has the stop reason", async () => {
    const { search } = scripted(progress, doneOf());
    const states = await Array.fromAsync(statesOf(analyzerOf(search), validated(), "somebody", never));
    expect(states).toMatchObject([
      {
        depth: 13,
        stopReason: undefined,
        deterministic: false,
        best: { uci: "e2e4" },
        ponder: { uci: "e7e5" },
      },
      { depth: 14, stopReason: "depth", deterministic: true },
    ]);
  });

  test("a search is cancelled when its last reader stops reading, and the next caller gets the slot", async () => {
    let calls = 0;
    const analyzer = analyzerOf((...job) => (calls++ === 0 ? endless : scripted(doneOf()).search)(...job));
    const states = statesOf(analyzer, validated(), "somebody", never)[Symbol.asyncIterator]();
    expect((await states.next()).value).toMatchObject({ depth: 13 });
    await states.return?.(undefined);
    expect(await analyzer.analyze(validated(), "somebody", never)).toMatchObject({ depth: 14 });
  });
});

describe("why a search stopped", () => {
  test.each([
    ["depth", doneOf({ endedBy: "depth" }), validated()],
    ["depth", doneOf({ endedBy: "depth" }), validated({ movetimeMs: 500 })],
    ["movetime", doneOf({ endedBy: "time" }), validated({ movetimeMs: 500 })],
    ["server_limit", doneOf({ endedBy: "time" }), validated()],
    ["nodes", doneOf({ endedBy: "nodes" }), validated({ nodes: 5000, movetimeMs: 500 })],
    ["server_limit", doneOf({ endedBy: "time" }), validated({ nodes: 5000 })],
  ] as const)("the stop reason of a search is %s", async (stopReason, done, request) => {
    expect(await analyze(request, done)).toMatchObject({ stopReason });
  });
});

describe("an answer is deterministic", () => {
  const { build } = validated();
  test.each([
    [true, "ended by depth, reproducible engine, full strength", doneOf(), {}],
    [true, "ended by nodes", doneOf({ endedBy: "nodes" }), { nodes: 5000 }],
    [false, "ended by time", doneOf({ endedBy: "time" }), {}],
    [false, "ended by time before its nodes", doneOf({ endedBy: "time" }), { nodes: 5000 }],
    [false, "ended by nodes, weakened", doneOf({ endedBy: "nodes" }), { nodes: 5000, weakened: true }],
    [false, "equal searches of its engine differ", doneOf(), { build: { ...build, reproducible: false } }],
    [false, "weakened", doneOf(), { weakened: true }],
  ] as const)(
    "the field deterministic of an analysis is %s: %s",
    async (deterministic, _, done, overrides) => {
      expect(await analyze(validated(overrides), done)).toMatchObject({ deterministic });
    },
  );
});

describe("a failure", () => {
  test.each<[FailureKind, string]>([
    ["overtime", "engine_timeout"],
    ["unresponsive", "overloaded"],
    ["flooded", "overloaded"],
    ["quarantined", "engine_timeout"],
    ["no_start", "starting"],
    ["exited", "overloaded"],
    ["killed", "overloaded"],
    ["protocol_error", "internal"],
  ])("an engine failure of the kind %s becomes the error %s", async (kind, code) => {
    const failure = new EngineFailure(kind, "secret of the engine");
    const error = await analyze(validated(), failure).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KibitzError);
    expect(error).toMatchObject({ code, cause: failure });
    expect((error as KibitzError).message).not.toContain("secret");
  });

  test("the error about an engine that does not start contains a time to wait", async () => {
    const failure = new EngineFailure("no_start", "slow");
    await expect(analyze(validated(), failure)).rejects.toMatchObject({
      retryAfterMs: 1000,
      retryable: true,
    });
  });

  test("an unexpected error in a search is thrown unchanged", async () => {
    const mistake = new TypeError("mistake");
    await expect(analyze(validated(), mistake)).rejects.toBe(mistake);
  });
});

describe("a caller that leaves", () => {
  const reason = new Error("gone");

  test("a cancelled request rejects immediately, and its slot becomes free when the engine has stopped", async () => {
    const stopped = Promise.withResolvers<void>();
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 60_000 });
    const search: SearchWithRetry = (_build, _job, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => stopped.promise.then(() => reject(signal.reason)));
      });
    const cache = createMemoryCache<SearchResult>({ bytes: 0 });
    const analyzer = createAnalyzer({ search, hasRoom: () => false, scheduler, cache, movetimeMaxMs: 9000 });
    const leaving = new AbortController();
    const left = analyzer.analyze(validated(), "somebody", leaving.signal);
    await new Promise(setImmediate);
    leaving.abort(reason);
    await expect(left).rejects.toBe(reason);
    expect(scheduler.status().running).toBe(1);
    stopped.resolve();
    await new Promise(setImmediate);
    expect(scheduler.status().running).toBe(0);
  });

  test("a request that is cancelled in the queue rejects with its abort reason, and never reaches an engine", async () => {
    let asked = 0;
    const analyzer = analyzerOf((...job) => {
      asked++;
      return endless(...job);
    });
    const [holding, leaving] = [new AbortController(), new AbortController()];
    const held = analyzer.analyze(validated(), "somebody", holding.signal);
    const left = analyzer.analyze(validated({ depth: 3 }), "somebody", leaving.signal);
    leaving.abort(reason);
    await expect(left).rejects.toBe(reason);
    expect(asked).toBe(1);
    holding.abort(reason);
    await expect(held).rejects.toBe(reason);
  });
});

describe("an answer that depth alone defines", () => {
  const first = snapshotOf({ counters: { nodes: 9, nps: 300, timeMs: 30, hashfull: 1, tbhits: 0 } });

  test("a deterministic result is cached, and the next request needs no engine", async () => {
    const { search, jobs } = scripted(doneOf({ snapshot: first }));
    const analyzer = analyzerOf(search);
    const searched = await analyzer.analyze(validated(), "somebody", never);
    const kept = await analyzer.analyze(validated(), "somebody else", never);
    expect(searched).toMatchObject({ cached: false });
    expect(kept).toMatchObject({ cached: true, queueMs: 0, counters: first.counters });
    expect({ ...kept, cached: false, request: 0 }).toEqual({ ...searched, queueMs: 0, request: 0 });
    expect(jobs).toHaveLength(1);
  });

  test("a reader of a cached result gets a single analysis", async () => {
    const { search } = scripted({ kind: "progress", snapshot: snapshotOf({ depth: 13 }) }, doneOf());
    const analyzer = analyzerOf(search);
    await analyzer.analyze(validated(), "somebody", never);
    const states = await Array.fromAsync(statesOf(analyzer, validated(), "somebody", never));
    expect(states).toMatchObject([{ cached: true, stopReason: "depth", depth: 14 }]);
  });

  test("a cached result is returned for a request with another movetime and other warnings", async () => {
    const { search, jobs } = scripted(doneOf());
    const analyzer = analyzerOf(search);
    await analyzer.analyze(validated(), "somebody", never);
    const warnings = [{ code: "default_depth_applied", message: "…", field: "depth" }];
    const request = validated({ movetimeMs: 50, warnings });
    const kept = await analyzer.analyze(request, "somebody", never);
    expect(kept).toMatchObject({ request, warnings, cached: true, stopReason: "depth", deterministic: true });
    expect(jobs).toHaveLength(1);
  });

  test.each<[string, SearchEvent, Partial<ValidatedRequest>]>([
    ["the time limit came before the node limit", doneOf({ endedBy: "time" }), { nodes: 5000 }],
    ["the time limit ended the search", doneOf({ endedBy: "time" }), { movetimeMs: 500 }],
    ["the engine is weakened", doneOf(), { weakened: true }],
    [
      "equal searches of the engine differ",
      doneOf(),
      { build: { ...validated().build, reproducible: false } },
    ],
  ])("the result is not cached, and the next request searches again, if %s", async (_, done, overrides) => {
    const { search, jobs } = scripted(done);
    const analyzer = analyzerOf(search);
    for (const _ of [1, 2]) {
      expect(await analyzer.analyze(validated(overrides), "somebody", never)).toMatchObject({
        cached: false,
      });
    }
    expect(jobs).toHaveLength(2);
  });
});

test("a request that would wait too long is refused, and the running search is finished", async () => {
  const { search } = scripted(doneOf());
  const scheduler = createScheduler({ slots: 1, maxWaitMs: 0 });
  const cache = createMemoryCache<SearchResult>({ bytes: 0 });
  const analyzer = createAnalyzer({ search, hasRoom: () => false, scheduler, cache, movetimeMaxMs: 9000 });
  const [accepted, refused] = [validated(), validated({ depth: 3 })].map((request) =>
    analyzer.analyze(request, "somebody", never),
  );
  await expect(refused).rejects.toMatchObject({ code: "overloaded" });
  expect(await accepted).toMatchObject({ stopReason: "depth" });
});

/** Returns an analyzer with one slot. Each call of `release` finishes the running search. */
function analyzerWithHolds() {
  const releases: (() => void)[] = [];
  const { search: answer } = scripted(doneOf());
  const search: SearchWithRetry = async (...job) => {
    await new Promise<void>((resolve) => releases.push(resolve));
    return answer(...job);
  };
  const analyzer = createAnalyzer({
    hasRoom: () => false,
    search,
    scheduler: createScheduler({ slots: 1, maxWaitMs: 1e9 }),
    cache: createMemoryCache<SearchResult>({ bytes: 1e6 }),
    movetimeMaxMs: 9000,
  });
  const release = async () => {
    await expect.poll(() => releases.length).toBeGreaterThan(0);
    releases.shift()?.();
  };
  return { analyzer, release };
}

const briefly = (event: Followed | undefined) =>
  event?.kind === "waiting" ? event.at.place : event?.analysis.stopReason;
const follow = (analyzer: Analyzer, depth: number) =>
  analyzer.follow(validated({ depth }), `caller ${depth}`, never)[Symbol.asyncIterator]();
const next = async (events: AsyncIterator<Followed>) => briefly((await events.next()).value);

describe("who follows a search", () => {
  test("a waiting search reports each change of its queue position, and after its start the search reports its analyses", async () => {
    const { analyzer, release } = analyzerWithHolds();
    const [first, second, third] = [8, 9, 10].map((depth) => follow(analyzer, depth)) as [
      AsyncIterator<Followed>,
      AsyncIterator<Followed>,
      AsyncIterator<Followed>,
    ];
    const begun = next(first);
    expect([await next(second), await next(third)]).toEqual([1, 2]);
    await release();
    expect(await begun).toBe("depth");
    // The queue position is read again when the caller asks for the next event.
    expect(await next(third)).toBe(1);
    await release();
    expect(await next(second)).toBe("depth");
    await release();
    expect(await next(third)).toBe("depth");
  });

  test("a slow reader does not get outdated queue positions", async () => {
    const { analyzer, release } = analyzerWithHolds();
    const first = follow(analyzer, 8);
    const begun = next(first);
    const slow = follow(analyzer, 9);
    const asked = slow.next();
    expect(briefly((await asked).value)).toBe(1);
    await release();
    await begun;
    await release();
    expect(await next(slow)).toBe("depth");
    expect((await slow.next()).done).toBe(true);
  });

  test("a request that joins a waiting search has the queue position of that search", async () => {
    const { analyzer, release } = analyzerWithHolds();
    const begun = next(follow(analyzer, 8));
    const second = follow(analyzer, 9);
    expect(await next(second)).toBe(1);
    const joined = follow(analyzer, 9);
    expect(await next(joined)).toBe(1);
    await release();
    await begun;
    const late = next(follow(analyzer, 9));
    await release();
    expect(await late).toBe("depth");
    expect([await next(second), await next(joined)]).toEqual(["depth", "depth"]);
  });

  test.each([
    ["starts immediately", {}, ["depth"]],
    ["is unnecessary because the game is over", { fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" }, ["terminal"]],
  ])("no queue position is reported if the search %s", async (_, overrides, expected) => {
    const { analyzer, release } = analyzerWithHolds();
    const events = Array.fromAsync(analyzer.follow(validated(overrides), "somebody", never));
    if (expected.includes("depth")) {
      await release();
    }
    expect((await events).map(briefly)).toEqual(expected);
  });

  test("no queue position is reported for a cached result, even if all slots are busy", async () => {
    const { analyzer, release } = analyzerWithHolds();
    const known = analyzer.analyze(validated(), "somebody", never);
    await release();
    await known;
    const holder = analyzer.analyze(validated({ depth: 3 }), "somebody", never);
    const events = await Array.fromAsync(analyzer.follow(validated(), "somebody", never));
    expect(events).toMatchObject([{ kind: "state", analysis: { cached: true } }]);
    await release();
    await holder;
  });
});

describe("equal requests at the same time", () => {
  /** Returns a search that does not finish until `open` is called. */
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

  test("concurrent equal requests share one search, and each gets a response to its own request", async () => {
    const { search, jobs, open } = held(doneOf());
    const analyzer = analyzerOf(search);
    const warnings = [{ code: "clocks_defaulted", message: "…", field: "fen" }];
    const requests = [validated(), validated({ warnings }), validated()];
    const answers = requests.map((request, index) => analyzer.analyze(request, `caller ${index}`, never));
    const watched = Array.fromAsync(statesOf(analyzer, validated(), "watcher", never));
    await new Promise(setImmediate);
    open();
    for (const [index, answer] of (await Promise.all(answers)).entries()) {
      expect(answer.request).toBe(requests[index]);
      expect(answer).toMatchObject({ depth: 14, cached: false, warnings: requests[index]?.warnings });
    }
    expect((await watched).at(-1)).toMatchObject({ stopReason: "depth" });
    expect(jobs).toHaveLength(1);
  });

  test("each of several equal requests has its own waiting time", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const { search, open } = held(doneOf());
    const analyzer = analyzerOf(search);
    const holder = analyzer.analyze(validated({ depth: 2 }), "holder", never);
    const early = analyzer.analyze(validated(), "early", never);
    await wait(60);
    const late = analyzer.analyze(validated(), "late", never);
    await wait(30);
    open();
    const waits = (await Promise.all([holder, early, late])).map(({ queueMs }) => queueMs);
    expect(waits).toEqual([0, 90, 30]);
  });

  test.each<[string, Partial<ValidatedRequest>, Partial<ValidatedRequest>]>([
    ["their time limits differ", { movetimeMs: 500 }, { movetimeMs: 600 }],
    ["the engine is weakened", { weakened: true }, { weakened: true }],
    ["their depths differ", { depth: 8 }, { depth: 9 }],
    ["their nodes differ", { nodes: 800 }, { nodes: 900 }],
    ["their moves differ", { searchMoves: ["e2e4"] }, { searchMoves: ["e2e4", "d2d4"] }],
  ])("two concurrent requests start two searches if %s", async (_, one, other) => {
    const { search, jobs, open } = held(doneOf());
    const analyzer = analyzerOf(search, 2);
    const answers = [one, other].map((overrides) =>
      analyzer.analyze(validated(overrides), "somebody", never),
    );
    open();
    await Promise.all(answers);
    expect(jobs).toHaveLength(2);
  });

  test("a request with the default movetime and a request without movetime use the same search", async () => {
    const { search, jobs, open } = held(doneOf({ endedBy: "time" }));
    const analyzer = analyzerOf(search, 2);
    const answers = [undefined, 9000].map((movetimeMs) =>
      analyzer.analyze(validated({ movetimeMs }), "somebody", never),
    );
    open();
    // The two requests share a search, but each has its own stop reason.
    expect(await Promise.all(answers)).toMatchObject([
      { stopReason: "server_limit" },
      { stopReason: "movetime" },
    ]);
    expect(jobs).toHaveLength(1);
  });
});

describe("a search that two ask for while it waits", () => {
  /**
   * The only slot is busy until `finish` is called. `finish` returns the depths of the waiting searches in the order in which
   * they ran.
   */
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
    const cache = createMemoryCache<SearchResult>({ bytes: 0 });
    const analyzer = createAnalyzer({ search, hasRoom: () => false, scheduler, cache, movetimeMaxMs: 9000 });
    const ended: Promise<unknown>[] = [];
    const ask = (depth: number, flow: string) => {
      const leaving = new AbortController();
      // All searches are expected to take the same time, so the depth does not change their order.
      const request = validated({ depth: 14, multipv: 1, effectiveOptions: { depth }, movetimeMs: 60 });
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

  test("a caller who joins the last search of a batch waits no longer than with a search of its own", async () => {
    const placeOf = async (depth: number) => {
      const { ask, finish, settle } = crowded();
      for (const batched of [20, 21, 22, 23, 24, 25]) {
        ask(batched, "batch");
      }
      await settle();
      ask(depth, "single");
      return (await finish()).indexOf(depth);
    };
    const [own, joined] = [await placeOf(26), await placeOf(25)];
    expect(own).toBe(1);
    expect(joined).toBe(own);
  });

  test("a shared search keeps its queue position if its first caller disconnects", async () => {
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

  test("a shared search counts as one search in the queue, even with many callers", async () => {
    const { ask, finish, scheduler, settle } = crowded();
    ask(20, "batch");
    for (let caller = 0; caller < 20; caller++) {
      ask(25, `caller ${caller % 10}`);
    }
    await settle();
    expect(scheduler.status()).toMatchObject({ running: 1, waiting: 1 });
    expect(await finish()).toEqual([25]);
    expect(scheduler.status()).toMatchObject({ running: 0, waiting: 0 });
  });
});

function rememberingStore() {
  const kept = new Map<string, SearchResult>();
  const asked: string[] = [];
  const store: AnswerStore<SearchResult> = {
    get: (key) => {
      asked.push("get");
      return kept.get(key);
    },
    set: (key, value) => {
      asked.push("set");
      kept.set(key, value);
    },
    [Symbol.dispose]() {},
  };
  return { store, asked };
}

function startedOver(store: AnswerStore<SearchResult>, done: SearchDone = doneOf()) {
  const { search, jobs } = scripted(done);
  const analyzer = createAnalyzer({
    hasRoom: () => false,
    search,
    scheduler: createScheduler({ slots: 1, maxWaitMs: 60_000 }),
    cache: createMemoryCache<SearchResult>({ bytes: 1e6 }),
    store,
    movetimeMaxMs: 9000,
  });
  const ask = (overrides: Parameters<typeof validated>[0] = {}) =>
    analyzer.analyze(validated(overrides), "somebody", never);
  return { analyzer, ask, jobs };
}

test("the next process finds a stored result, and caches the result in memory", async () => {
  const { store, asked } = rememberingStore();
  const searched = await startedOver(store).ask();
  expect(asked).toEqual(["get", "set"]);
  const { analyzer, ask, jobs } = startedOver(store);
  const kept = await ask();
  expect(kept).toMatchObject({ cached: true, queueMs: 0, deterministic: true });
  expect({ ...kept, cached: false, request: 0 }).toEqual({ ...searched, queueMs: 0, request: 0 });
  const states = await Array.fromAsync(statesOf(analyzer, validated(), "somebody", never));
  expect(states).toMatchObject([{ cached: true, stopReason: "depth" }]);
  expect(jobs).toEqual([]);
  expect(asked).toEqual(["get", "set", "get"]);
});

test.each([true, false])(
  "equal requests and streams share a search, the store and other nodes if the engine is reproducible: %j",
  async (reproducible) => {
    const { search, jobs } = scripted(doneOf());
    const { store, asked } = rememberingStore();
    const run = vi.fn<Sharing["run"]>(async ({ search, enter, signal }) => {
      const last = await search(await enter(signal));
      return last ?? expect.fail("set back");
    });
    const analyzer = createAnalyzer({
      ...{ search, store, sharing: { run }, hasRoom: () => true, movetimeMaxMs: 9000 },
      scheduler: createScheduler({ slots: 4, maxWaitMs: 1000 }),
      cache: createMemoryCache<SearchResult>({ bytes: 1e6 }),
    });
    const request = validated({ depth: 14, build: buildOf({ reproducible }) });
    const answers = await Promise.all([
      ...[1, 2].map(() => analyzer.analyze(request, "somebody", never)),
      ...[3, 4].map(async () =>
        (await Array.fromAsync(statesOf(analyzer, request, "somebody", never))).at(-1),
      ),
    ]);
    expect(answers).toMatchObject(Array(4).fill({ cached: false, deterministic: reproducible }));
    expect(run).toHaveBeenCalledTimes(reproducible ? 1 : 0);
    expect(jobs).toHaveLength(reproducible ? 1 : 4);
    expect(asked.length > 0).toBe(reproducible);
  },
);

test.each<[string, Parameters<typeof validated>[0], SearchDone]>([
  ["the time limit ended the search", {}, doneOf({ endedBy: "time" })],
  ["the service stopped", {}, doneOf({ endedBy: "stop" })],
  ["the engine is weakened", { weakened: true }, doneOf()],
  ["equal searches of the engine differ", { build: buildOf({ reproducible: false }) }, doneOf()],
])("the result is not stored if %s", async (_, overrides, done) => {
  const { store, asked } = rememberingStore();
  expect(await startedOver(store, done).ask(overrides)).toMatchObject({
    cached: false,
    deterministic: false,
  });
  expect(asked).not.toContain("set");
});
