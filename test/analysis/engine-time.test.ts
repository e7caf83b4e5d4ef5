import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Analysis } from "../../src/analysis/analysis.ts";
import type { Analyzer } from "../../src/analysis/analyzer.ts";
import { createRunTimes, createSearchCaller } from "../../src/analysis/engine-time.ts";
import { EngineFailure } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { createSearchWithRetry, type SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { silentLog } from "../../src/log/log.ts";
import { createFakeEngines, type FakeEnginesOptions } from "../engine/fake-engines.ts";
import { statesOf } from "../support/states-of.ts";
import { useTurnedClock } from "../support/turned-clock.ts";
import { analyzerOf, endless } from "./analyzer-of.ts";
import { doneOf, scripted, snapshotOf, validated } from "./made-up.ts";

const never = new AbortController().signal;
const turnMs = useTurnedClock();
const hourMs = 3_600_000;

/** Returns options that record the engine time of a search, and a function that returns the last recorded time. */
function metered() {
  let engineMs = 0;
  const onEngineTime = (ms: number) => {
    engineMs = ms;
  };
  return { terms: { expectedMs: 10, longestMs: 9000, onEngineTime }, engineMs: () => engineMs };
}

describe("engine time of a search that is watched", () => {
  async function charged(
    search: SearchWithRetry,
    watcher: (states: AsyncIterable<Analysis>) => Promise<unknown>,
  ) {
    const { terms, engineMs } = metered();
    await watcher(statesOf(analyzerOf(search), validated(), "somebody", never, terms));
    return engineMs();
  }
  /** Twice the search time that the fake engine reports. */
  const silentMs = 2 * snapshotOf().counters.timeMs;
  const silent = async () => {
    // A timer counts from the start of the current iteration of the event loop. A new iteration makes the timer exact.
    await nextTurn();
    await sleep(silentMs);
  };

  test("a caller who reads a finished search is charged the time that the engine reports", async () => {
    const { search } = scripted(doneOf());
    expect(await charged(search, (states) => Array.fromAsync(states))).toBe(snapshotOf().counters.timeMs);
  });

  test("a caller whose search fails before the first analysis is charged the elapsed time", async () => {
    const failing: SearchWithRetry = async (_build, _job, _signal, _onProgress, onEngine) => {
      onEngine?.(true);
      await silent();
      throw new EngineFailure("overtime", "did not stop");
    };
    const engineMs = await charged(failing, (states) =>
      expect(Array.fromAsync(states)).rejects.toMatchObject({ code: "engine_timeout" }),
    );
    expect(engineMs).toBeGreaterThanOrEqual(silentMs - 1);
  });

  test("a caller who stops reading during the search is charged the elapsed time", async () => {
    const engineMs = await charged(endless, async (states) => {
      for await (const _ of states) {
        await silent();
        break;
      }
    });
    expect(engineMs).toBeGreaterThanOrEqual(silentMs - 1);
  });

  test("a caller who stops reading long after the end of the search is not charged for the time after the end", async () => {
    const { search } = scripted({ kind: "progress", snapshot: snapshotOf({ depth: 13 }) }, doneOf());
    const engineMs = await charged(search, async (states) => {
      for await (const _ of states) {
        await sleep(4 * silentMs);
        break;
      }
    });
    expect(engineMs).toBe(snapshotOf().counters.timeMs);
  });

  test("a caller whose connection breaks is not charged for the time after the break", async () => {
    const analyzer = analyzerOf(endless);
    const { terms, engineMs } = metered();
    const cut = new AbortController();
    const states = statesOf(analyzer, validated(), "somebody", cut.signal, terms)[Symbol.asyncIterator]();
    await states.next();
    cut.abort(new Error("cut"));
    turnMs(hourMs);
    await expect(states.next()).rejects.toThrow("cut");
    expect(engineMs()).toBeGreaterThan(0);
    expect(engineMs()).toBeLessThan(hourMs);
  });
});

describe("engine time of a caller who leaves without an answer", () => {
  const passMs = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Starts two equal requests, which share a search. */
  async function twoOf(analyzer: Analyzer) {
    const ask = async () => {
      const leaving = new AbortController();
      const charged = { leaving, engineMs: 0, ended: Promise.resolve<unknown>(undefined) };
      const onEngineTime = (ms: number) => {
        charged.engineMs = ms;
      };
      const terms = { expectedMs: 10, longestMs: 9000, onEngineTime };
      charged.ended = analyzer.analyze(validated(), "somebody", leaving.signal, terms).catch(() => {});
      await passMs(0);
      return charged;
    };
    return [await ask(), await ask()] as const;
  }

  test("a caller of a shared search is charged for the time until the caller disconnects", async () => {
    const [first, second] = await twoOf(analyzerOf(endless));
    turnMs(hourMs);
    first.leaving.abort();
    await first.ended;
    turnMs(hourMs);
    second.leaving.abort();
    await second.ended;
    expect(first.engineMs).toBeGreaterThanOrEqual(hourMs);
    expect(first.engineMs).toBeLessThan(2 * hourMs);
    expect(second.engineMs).toBeGreaterThanOrEqual(2 * hourMs);
  });

  test("a caller who disconnects while waiting for an engine is charged no engine time", async () => {
    const analyzer = analyzerOf(endless);
    const holding = new AbortController();
    const held = analyzer.analyze(validated({ depth: 3 }), "holder", holding.signal).catch(() => {});
    const both = await twoOf(analyzer);
    await passMs(30);
    for (const { leaving, ended } of both) {
      leaving.abort();
      await ended;
    }
    expect(both.map(({ engineMs }) => engineMs)).toEqual([0, 0]);
    holding.abort();
    await held;
  });
});

describe("engine time of a search that waits for an engine that is being started", () => {
  const startMs = 30;
  const started = () => new Promise<void>((resolve) => setTimeout(resolve, startMs));
  const failed = async () => {
    await started();
    throw new EngineFailure("no_start", "no readyok in time");
  };

  /** Sends a request that must fail. Returns the engine time that is charged, and the elapsed time. */
  async function charged(
    options: FakeEnginesOptions,
    leaving = never,
  ): Promise<{ readonly engineMs: number; readonly tookMs: number }> {
    const pool = createPool({
      start: createFakeEngines(options).start,
      memoryMaxBytes: Number.POSITIVE_INFINITY,
      log: silentLog,
    });
    const analyzer = analyzerOf(createSearchWithRetry(pool, silentLog));
    const { terms, engineMs } = metered();
    await nextTurn();
    const begunAt = performance.now();
    await expect(analyzer.analyze(validated(), "somebody", leaving, terms)).rejects.toThrow();
    return { engineMs: engineMs(), tookMs: performance.now() - begunAt };
  }

  test("a caller is charged no engine time if the engine does not start", async () => {
    const { engineMs, tookMs } = await charged({ starting: failed });
    expect(tookMs).toBeGreaterThanOrEqual(startMs - 1);
    expect(engineMs).toBe(0);
  });

  test("a caller who disconnects while the engine starts is charged no engine time", async () => {
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(new Error("gone")), startMs / 2);
    expect((await charged({ starting: started }, leaving.signal)).engineMs).toBe(0);
  });

  test("a caller who disconnects during the retry of a search is charged for both engines, but not for the start of the second engine", async () => {
    const leaving = new AbortController();
    const { engineMs } = await charged(
      {
        conduct: (number) => (number === 1 ? "exited" : "go on"),
        starting: async (number) => {
          if (number === 2) {
            turnMs(hourMs);
          }
        },
        // The second search begins at once after this. A start of an engine takes longer on a busy machine.
        cleaning: async (number) => {
          if (number === 2) {
            setTimeout(() => leaving.abort(new Error("gone")), startMs);
          }
        },
      },
      leaving.signal,
    );
    expect(engineMs).toBeGreaterThanOrEqual(startMs - 1);
    expect(engineMs).toBeLessThan(hourMs);
  });

  test("the time in which an engine is cleaned counts as waiting and not as engine time", async () => {
    const pool = createPool({
      start: createFakeEngines({ conduct: () => "go on", cleaning: async () => turnMs(hourMs) }).start,
      memoryMaxBytes: Number.POSITIVE_INFINITY,
      log: silentLog,
    });
    const { terms, engineMs } = metered();
    const analyzer = analyzerOf(createSearchWithRetry(pool, silentLog));
    for await (const { queueMs } of statesOf(analyzer, validated(), "somebody", never, terms)) {
      expect(queueMs).toBeGreaterThanOrEqual(hourMs);
      await sleep(20);
      break;
    }
    expect(engineMs()).toBeGreaterThan(0);
    expect(engineMs()).toBeLessThan(hourMs);
  });

  test("a caller is not charged for failed engine starts after a failed search", async () => {
    let failures = 0;
    const { engineMs } = await charged({
      conduct: () => "protocol_error",
      starting: (number) => {
        if (number === 1) {
          return;
        }
        failures++;
        turnMs(hourMs);
        return failed();
      },
    });
    expect(failures).toBeGreaterThan(0);
    expect(engineMs).toBeGreaterThan(0);
    expect(engineMs).toBeLessThan(hourMs);
  });
});

describe("engine time of a search that runs on two engines", () => {
  test.each([
    ["before the search", "first", 110],
    ["at the end of the first engine", "first ends", 100],
    ["while the second engine starts", "start", 100],
    ["at the end of the second engine", "second ends", 0],
  ])("a caller who joins %s is charged only for the engines since then", (_, joinsAt, seconds) => {
    const times = createRunTimes();
    const caller = createSearchCaller("caller", false);
    const steps = {
      first: times.begin,
      searches: () => turnMs(10_000),
      "first ends": times.end,
      start: () => turnMs(hourMs),
      second: times.begin,
      "searches too": () => turnMs(100_000),
      "second ends": times.end,
      afterwards: () => turnMs(hourMs),
    };
    for (const [name, step] of Object.entries(steps)) {
      if (name === joinsAt) {
        caller.joins(times);
      }
      step();
    }
    expect(Math.round(caller.engineMs() / 1000)).toBe(seconds);
  });
});
