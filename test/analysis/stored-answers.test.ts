import { expect, test } from "vitest";
import type { Findings } from "../../src/analysis/analysis.ts";
import { createAnalyzer } from "../../src/analysis/analyzer.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import type { SearchDone } from "../../src/engine/engine.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import type { AnswerStore } from "../../src/storage/ports.ts";
import { buildOf } from "../engine/build-of.ts";
import { statesOf } from "../support/states-of.ts";
import { doneOf, judgedOf, scripted } from "./made-up.ts";

const never = new AbortController().signal;

/** A store that remembers what it was asked. */
function rememberingStore() {
  const kept = new Map<string, Findings>();
  const asked: string[] = [];
  const store: AnswerStore<Findings> = {
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

/** An analyzer as a process has it that was just started, over what others have stored. */
function startedOver(store: AnswerStore<Findings>, done: SearchDone = doneOf()) {
  const { search, jobs } = scripted(done);
  const analyzer = createAnalyzer({
    search,
    scheduler: createScheduler({ slots: 1, maxWaitMs: 60_000 }),
    cache: createMemoryCache<Findings>({ bytes: 1e6 }),
    store,
    movetimeMaxMs: 9000,
  });
  const ask = (told: Parameters<typeof judgedOf>[0] = {}) =>
    analyzer.analyze(judgedOf(told), "somebody", never);
  return { analyzer, ask, jobs };
}

test("an answer that one process has stored is found by the next process, and then in its memory", async () => {
  const { store, asked } = rememberingStore();
  const searched = await startedOver(store).ask();
  expect(asked).toEqual(["get", "set"]);
  const { analyzer, ask, jobs } = startedOver(store);
  const kept = await ask();
  expect(kept).toMatchObject({ cached: true, queueMs: 0, deterministic: true });
  expect({ ...kept, cached: false, request: 0 }).toEqual({ ...searched, queueMs: 0, request: 0 });
  const states = await Array.fromAsync(statesOf(analyzer, judgedOf(), "somebody", never));
  expect(states).toMatchObject([{ cached: true, stopReason: "depth" }]);
  expect(jobs).toEqual([]);
  expect(asked).toEqual(["get", "set", "get"]);
});

test.each<[string, Parameters<typeof judgedOf>[0], SearchDone]>([
  ["time has ended", {}, doneOf({ endedBy: "time" })],
  ["the service has ended", {}, doneOf({ endedBy: "stop" })],
  ["a weakened engine has played", { weakened: true }, doneOf()],
  ["an engine whose equal searches differ has found", { build: buildOf({ reproducible: false }) }, doneOf()],
])("an answer that %s is not stored", async (_, told, done) => {
  const { store, asked } = rememberingStore();
  expect(await startedOver(store, done).ask(told)).toMatchObject({ cached: false, deterministic: false });
  expect(asked).not.toContain("set");
});

test("an answer of a shallow search is kept in memory, and not stored", async () => {
  const { store, asked } = rememberingStore();
  const { ask, jobs } = startedOver(store);
  await ask({ depth: 5 });
  expect(await ask({ depth: 5 })).toMatchObject({ cached: true });
  expect([jobs.length, asked]).toEqual([1, []]);
});

test("an engine with the name of another, and another digest, gets none of its answers", async () => {
  const { store } = rememberingStore();
  const digestOf = (sha256: string) => buildOf({ sha256 });
  const { ask } = startedOver(store);
  await ask({ build: digestOf("a".repeat(64)) });
  expect(await ask({ build: digestOf("a".repeat(64)) })).toMatchObject({ cached: true });
  expect(await ask({ build: digestOf("b".repeat(64)) })).toMatchObject({ cached: false });
});
