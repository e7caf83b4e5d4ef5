import { describe, expect, test } from "vitest";
import type { Analysis, JudgedRequest } from "../../src/analysis/analysis.ts";
import { type Analyzer, createAnalyzer } from "../../src/analysis/analyzer.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import { EngineFailure, type FailureKind, type SearchEvent } from "../../src/engine/engine.ts";
import type { Supervisor } from "../../src/engine/supervisor.ts";
import { KibitzError } from "../../src/errors.ts";
import { doneOf, judgedOf, scripted, snapshotOf } from "./made-up.ts";

const never = new AbortController().signal;

function analyzerOf(search: Supervisor, slots = 1): Analyzer {
  return createAnalyzer({ search, scheduler: createScheduler(slots), movetimeMaxMs: 9000 });
}

const analyze = (request: JudgedRequest, ...script: readonly (SearchEvent | Error)[]): Promise<Analysis> =>
  analyzerOf(scripted(...script).search).analyze(request, "somebody", never);

describe("a search", () => {
  test("is given the request's limits and options", async () => {
    const { search, jobs } = scripted(doneOf());
    const request = judgedOf({ depth: 9, multipv: 3, movetimeMs: 700, options: { skill_level: 3 } });
    await analyzerOf(search).analyze(request, "somebody", never);
    const { position } = request;
    expect(jobs).toEqual([{ position, depth: 9, multipv: 3, movetimeMs: 700, options: { skill_level: 3 } }]);
  });

  test("that sets no time is given the longest that the service allows", async () => {
    const { search, jobs } = scripted(doneOf());
    await analyzerOf(search).analyze(judgedOf(), "somebody", never);
    expect(jobs).toMatchObject([{ movetimeMs: 9000 }]);
  });

  test("is not asked for when the game is over, and takes no slot", async () => {
    const { search, jobs } = scripted(doneOf());
    const request = judgedOf({ fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", depth: 5 });
    const analyzer = analyzerOf(search, 0);
    expect(await analyzer.analyze(request, "somebody", never)).toMatchObject({
      stopReason: "terminal",
      best: undefined,
      ponder: undefined,
      lines: [],
      depth: 0,
      counters: { nodes: 0, timeMs: 0 },
    });
    expect(await Array.fromAsync(analyzer.watch(request, "somebody", never))).toHaveLength(1);
    expect(jobs).toEqual([]);
  });

  test("that says nothing is an error, and no empty answer", async () => {
    await expect(analyze(judgedOf())).rejects.toThrow("without an answer");
  });
});

describe("the states of a search", () => {
  const progress = { kind: "progress", snapshot: snapshotOf({ depth: 13 }) } as const;

  test("can be watched, the last one with its reason to stop", async () => {
    const { search } = scripted(progress, doneOf());
    const states = await Array.fromAsync(analyzerOf(search).watch(judgedOf(), "somebody", never));
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

  test("give the slot back to the next caller when nobody watches any more", async () => {
    const { search } = scripted(progress, doneOf());
    const analyzer = analyzerOf(search);
    for await (const state of analyzer.watch(judgedOf(), "somebody", never)) {
      expect(state.depth).toBe(13);
      break;
    }
    expect(await analyzer.analyze(judgedOf(), "somebody", never)).toMatchObject({ depth: 14 });
  });
});

describe("why a search stopped", () => {
  test.each([
    ["depth", doneOf({ endedBy: "depth" }), judgedOf()],
    ["depth", doneOf({ endedBy: "depth" }), judgedOf({ movetimeMs: 500 })],
    ["movetime", doneOf({ endedBy: "time" }), judgedOf({ movetimeMs: 500 })],
    ["server_limit", doneOf({ endedBy: "time" }), judgedOf()],
  ] as const)("is %s", async (stopReason, done, request) => {
    expect(await analyze(request, done)).toMatchObject({ stopReason });
  });
});

describe("an answer is deterministic", () => {
  const { build } = judgedOf();
  test.each([
    [true, "ended by depth, one thread, full strength", doneOf(), {}],
    [false, "ended by time", doneOf({ endedBy: "time" }), {}],
    [false, "two threads", doneOf(), { build: { ...build, settings: { hashMb: 16, threads: 2 } } }],
    [false, "weakened", doneOf(), { weakened: true }],
  ] as const)("%s: %s", async (deterministic, _, done, told) => {
    expect(await analyze(judgedOf(told), done)).toMatchObject({ deterministic });
  });
});

describe("a failure", () => {
  test.each<[FailureKind, string]>([
    ["overran", "engine_timeout"],
    ["deaf", "engine_timeout"],
    ["suspended", "engine_timeout"],
    ["no_start", "starting"],
    ["exited", "internal"],
    ["confused", "internal"],
  ])("of the kind %s is %s to the caller", async (kind, code) => {
    const failure = new EngineFailure(kind, "secret of the engine");
    const error = await analyze(judgedOf(), failure).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KibitzError);
    expect(error).toMatchObject({ code, cause: failure });
    expect((error as KibitzError).message).not.toContain("secret");
  });

  test("of an engine that is being started says when to come back", async () => {
    const failure = new EngineFailure("no_start", "slow");
    await expect(analyze(judgedOf(), failure)).rejects.toMatchObject({ retryAfterMs: 1000, retryable: true });
  });

  test("of another kind is passed on as it is", async () => {
    const mistake = new TypeError("mistake");
    await expect(analyze(judgedOf(), mistake)).rejects.toBe(mistake);
  });

  test("frees the slot", async () => {
    let calls = 0;
    const analyzer = analyzerOf((build, job, signal) =>
      scripted(calls++ === 0 ? new EngineFailure("overran", "late") : doneOf()).search(build, job, signal),
    );
    await expect(analyzer.analyze(judgedOf(), "somebody", never)).rejects.toThrow();
    expect(await analyzer.analyze(judgedOf(), "somebody", never)).toMatchObject({ stopReason: "depth" });
  });
});

describe("a caller that leaves", () => {
  /** Searches until it is called off. */
  const endless: Supervisor = async function* (_build, _job, signal) {
    yield { kind: "progress", snapshot: snapshotOf() };
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const reason = new Error("gone");

  test("ends the search with the reason, and frees the slot", async () => {
    const analyzer = analyzerOf(endless);
    for (const leaving of [new AbortController(), new AbortController()]) {
      const left = analyzer.analyze(judgedOf(), "somebody", leaving.signal);
      await new Promise(setImmediate);
      leaving.abort(reason);
      await expect(left).rejects.toBe(reason);
    }
  });

  test("while waiting ends with the reason, and no engine is asked", async () => {
    const { search, jobs } = scripted(doneOf());
    const leaving = new AbortController();
    const left = analyzerOf(search, 0).analyze(judgedOf(), "somebody", leaving.signal);
    leaving.abort(reason);
    await expect(left).rejects.toBe(reason);
    expect(jobs).toEqual([]);
  });
});
