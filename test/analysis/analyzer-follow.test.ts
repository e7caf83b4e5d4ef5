import { describe, expect, test } from "vitest";
import type { Findings } from "../../src/analysis/analysis.ts";
import { type Analyzer, createAnalyzer } from "../../src/analysis/analyzer.ts";
import type { Followed } from "../../src/analysis/flight.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import type { SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { statesOf } from "../support/states-of.ts";
import { doneOf, judgedOf, scripted } from "./made-up.ts";

const never = new AbortController().signal;

/** One slot, and searches that last until they are released, one after the other. */
function analyzerWithHolds() {
  const releases: (() => void)[] = [];
  const { search: answer } = scripted(doneOf());
  const search: SearchWithRetry = async (...job) => {
    await new Promise<void>((resolve) => releases.push(resolve));
    return answer(...job);
  };
  const analyzer = createAnalyzer({
    search,
    scheduler: createScheduler({ slots: 1, maxWaitMs: 1e9 }),
    cache: createMemoryCache<Findings>({ bytes: 1e6 }),
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
  analyzer.follow(judgedOf({ depth }), `caller ${depth}`, never)[Symbol.asyncIterator]();
const next = async (events: AsyncIterator<Followed>) => briefly((await events.next()).value);

describe("who follows a search", () => {
  test("a waiting search reports its queue position when it changes, and then its states", async () => {
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
    // Looked up when it is read, and once a second.
    expect(await next(third)).toBe(1);
    await release();
    expect(await next(second)).toBe("depth");
    await release();
    expect(await next(third)).toBe("depth");
  });

  test("a slow reader is not told of queue positions that have passed", async () => {
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

  test("a search that joins a waiting search has its queue position, and none once it has begun", async () => {
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
    ["begins at once", {}, ["depth"]],
    ["is not needed, as the game is over", { fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" }, ["terminal"]],
  ])("no queue position is reported if the search %s", async (_, told, expected) => {
    const { analyzer, release } = analyzerWithHolds();
    const events = Array.fromAsync(analyzer.follow(judgedOf(told), "somebody", never));
    if (expected.includes("depth")) {
      await release();
    }
    expect((await events).map(briefly)).toEqual(expected);
  });

  test("no queue position is reported for a known answer, though all slots are taken", async () => {
    const { analyzer, release } = analyzerWithHolds();
    const known = analyzer.analyze(judgedOf(), "somebody", never);
    await release();
    await known;
    const holder = analyzer.analyze(judgedOf({ depth: 3 }), "somebody", never);
    const events = await Array.fromAsync(analyzer.follow(judgedOf(), "somebody", never));
    expect(events).toMatchObject([{ kind: "state", analysis: { cached: true } }]);
    await release();
    await holder;
  });

  test("a reader without a callback for positions gets states alone", async () => {
    const { analyzer, release } = analyzerWithHolds();
    const holder = analyzer.analyze(judgedOf({ depth: 3 }), "somebody", never);
    const watched = Array.fromAsync(statesOf(analyzer, judgedOf(), "watcher", never));
    await release();
    await holder;
    await release();
    expect(await watched).toMatchObject([{ stopReason: "depth" }]);
  });
});
