import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { SearchResult } from "../../src/analysis/analysis.ts";
import { type Analyzer, createAnalyzer } from "../../src/analysis/analyzer.ts";
import type { Terms } from "../../src/analysis/flight.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import type { SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { statesOf } from "../support/states-of.ts";
import { doneOf, snapshotOf, validated } from "./made-up.ts";

const never = new AbortController().signal;
const deep = snapshotOf({ depth: 30 });

/** One slot, and no memory for another engine. The first search of depth 30 runs until it is set back. */
function create() {
  const runs: (number | undefined)[] = [];
  const search: SearchWithRetry = (_build, { depth }, signal, onProgress = () => {}, onEngine) => {
    onEngine?.(true);
    runs.push(depth);
    if (depth === 11) {
      return sleep(200, doneOf());
    }
    if (depth !== 30 || runs.filter((run) => run === 30).length > 1) {
      onEngine?.(false);
      return Promise.resolve(doneOf(depth === 30 ? { snapshot: deep } : {}));
    }
    onProgress({ kind: "progress", snapshot: snapshotOf({ depth: 13 }) });
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        onEngine?.(false);
        reject(signal.reason);
      }),
    );
  };
  const scheduler = createScheduler({ slots: 1, maxWaitMs: 10_000 });
  const analyzer = createAnalyzer({
    search,
    hasRoom: () => false,
    scheduler,
    cache: createMemoryCache<SearchResult>({ bytes: 1e6 }),
    movetimeMaxMs: 60_000,
  });
  return { analyzer, scheduler, runs };
}

describe("a long search that lends its slot to a short search", () => {
  test("both searches are answered, and the long search runs again from the beginning", async () => {
    const { analyzer, runs } = create();
    const long = analyzer.analyze(validated({ depth: 30 }), "hog", never);
    const short = await analyzer.analyze(validated({ depth: 10 }), "other", never);
    expect(short.queueMs).toBeLessThan(1000);
    expect(await long).toMatchObject({ depth: 30, stopReason: "depth" });
    expect(runs).toEqual([30, 10, 30]);
  });

  test("a stream of the long search shows the states of both runs, and ends with the last state", async () => {
    const { analyzer } = create();
    const long = Array.fromAsync(statesOf(analyzer, validated({ depth: 30 }), "hog", never));
    await analyzer.analyze(validated({ depth: 10 }), "other", never);
    expect((await long).map(({ depth, stopReason }) => [depth, stopReason])).toEqual([
      [13, undefined],
      [30, "depth"],
    ]);
  });

  test("a stream that has shown a state shows no queue position after the set-back", async () => {
    const { analyzer } = create();
    const seen: string[] = [];
    const request = validated({ depth: 30 });
    const long = (async () => {
      for await (const { kind } of analyzer.follow(request, "hog", never)) {
        seen.push(kind);
      }
    })();
    await expect.poll(() => seen).toEqual(["state"]);
    // A caller who joins adds a place in another flow when the search waits again.
    const joined = analyzer.analyze(request, "friend", never);
    await analyzer.analyze(validated({ depth: 11 }), "other", never);
    await Promise.all([long, joined]);
    expect(seen).toEqual(["state", "state"]);
  });

  test("the caller is charged only for the run that answers", async () => {
    const { analyzer } = create();
    const charges: number[] = [];
    const onEngineTime = (ms: number) => charges.push(ms);
    const terms = { expectedMs: 60_000, longestMs: 60_000, onEngineTime };
    const long = analyzer.analyze(validated({ depth: 30 }), "hog", never, terms);
    await analyzer.analyze(validated({ depth: 10 }), "other", never);
    await long;
    expect(charges).toEqual([deep.counters.timeMs]);
  });

  test.each([
    [
      "a caller",
      (analyzer, signal, terms) => analyzer.analyze(validated({ depth: 30 }), "hog", signal, terms),
    ],
    [
      "a stream",
      (analyzer, signal, terms) =>
        Array.fromAsync(statesOf(analyzer, validated({ depth: 30 }), "hog", signal, terms)),
    ],
  ] satisfies [string, (analyzer: Analyzer, signal: AbortSignal, terms: Terms) => Promise<unknown>][])(
    "%s who leaves after a set-back is not charged for the run that was set back",
    async (_, ask) => {
      const { analyzer, scheduler } = create();
      let engineMs = 0;
      const onEngineTime = (ms: number) => {
        engineMs = ms;
      };
      const leaving = new AbortController();
      const long = ask(analyzer, leaving.signal, { expectedMs: 60_000, longestMs: 60_000, onEngineTime });
      await sleep(50);
      // The search that borrows the slot holds it until the caller of the long search has left.
      const short = analyzer.analyze(validated({ depth: 11 }), "other", never);
      await expect.poll(() => scheduler.status().waiting).toBe(1);
      leaving.abort(new Error("gone"));
      await expect(long).rejects.toThrow("gone");
      await short;
      expect(engineMs).toBe(0);
    },
  );

  test("a caller who leaves after a set-back gets the abort reason, and the short search is answered", async () => {
    const { analyzer, runs } = create();
    const leaving = new AbortController();
    const long = analyzer.analyze(validated({ depth: 30 }), "hog", leaving.signal);
    await new Promise(setImmediate);
    const short = analyzer.analyze(validated({ depth: 10 }), "other", never);
    leaving.abort(new Error("gone"));
    await expect(long).rejects.toThrow("gone");
    expect(await short).toMatchObject({ stopReason: "depth" });
    expect(runs).toEqual([30, 10]);
  });
});
