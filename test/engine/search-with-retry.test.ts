import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EngineFailure, type FailureKind, type SearchEvent } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { createSearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { silentLog } from "../../src/log/log.ts";
import { buildOf } from "./build-of.ts";
import { giveClockBack, takeClock, wait } from "./clock.ts";
import { createFakeEngines, type FakeEnginesOptions, fakeAnswer, fakeProgress } from "./fake-engines.ts";
import { jobOf, underWay } from "./job-of.ts";

const forever = new AbortController().signal;
const build = buildOf();
const job = jobOf();

function supervise(options: FakeEnginesOptions) {
  const engines = createFakeEngines(options);
  const pool = createPool({
    backends: [engines],
    idleMax: 2,
    memoryMaxBytes: Number.POSITIVE_INFINITY,
    log: silentLog,
  });
  return { engines, pool, search: createSearchWithRetry(pool, silentLog) };
}

describe("a search whose engine fails", () => {
  test.each<FailureKind>(["exited", "confused", "deaf", "suspended"])(
    "a search whose engine is %s is answered by another engine",
    async (kind) => {
      const { engines, search } = supervise({ conduct: (number) => (number === 1 ? kind : "answer") });
      expect(await search(build, job, forever)).toEqual(fakeAnswer);
      expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, true]);
    },
  );

  test("a search whose engine does not start is answered by another engine", async () => {
    const failure = new EngineFailure("no_start", "not this time");
    const { engines, search } = supervise({
      starting: (number) => (number === 1 ? Promise.reject(failure) : undefined),
    });
    expect(await search(build, job, forever)).toEqual(fakeAnswer);
    expect(engines.starts).toBe(2);
  });

  test("a search whose engine overran is not tried again, because its time is used up", async () => {
    const { engines, search } = supervise({ conduct: () => "overran" });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "overran" });
    expect(engines.starts).toBe(1);
  });

  test("a search whose engines fail is tried three times, and then fails as the last engine did", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number < 3 ? "confused" : "deaf") });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "deaf" });
    expect(engines.starts).toBe(3);
  });

  test("a position that engines crashed on twice is refused for a while, and no other", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number < 3 ? "exited" : "answer") });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "exited" });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "quarantined" });
    expect(engines.starts).toBe(2);
    const other = jobOf({ fen: "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" });
    expect(await search(build, other, forever)).toEqual(fakeAnswer);
  });

  test("a search whose engine is killed from outside is tried again, however often that happens", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number < 9 ? "killed" : "answer") });
    expect(await search(build, job, forever)).toEqual(fakeAnswer);
    expect(engines.starts).toBe(9);
  });

  test("a kill from outside never counts against the position", async () => {
    const { search } = supervise({ conduct: (number) => (number % 3 === 0 ? "answer" : "killed") });
    for (let round = 0; round < 5; round++) {
      expect(await search(build, job, forever)).toEqual(fakeAnswer);
    }
  });

  test("a search whose engine fails is tried again only for as long as its caller may have to wait", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const elapsedMs = [0, 700, 300];
    const { engines, search } = supervise({
      conduct: (number) => {
        vi.advanceTimersByTime(elapsedMs[number - 1] ?? 0);
        return number < 3 ? "suspended" : "answer";
      },
    });
    expect(await search(build, jobOf({ movetimeMs: 500 }), forever)).toEqual(fakeAnswer);
    // 500 ms and 900 for failures are 1400 from the beginning of the first search.
    expect(engines.jobs.map(({ movetimeMs }) => movetimeMs)).toEqual([500, 500, 400]);
  });

  test("a search whose engine was killed is tried again with all its time", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const { engines, search } = supervise({
      conduct: (number) => {
        vi.advanceTimersByTime(number === 1 ? 0 : 5000);
        return number === 1 ? "killed" : "answer";
      },
    });
    expect(await search(build, jobOf({ movetimeMs: 500 }), forever)).toEqual(fakeAnswer);
    expect(engines.jobs.map(({ movetimeMs }) => movetimeMs)).toEqual([500, 500]);
  });

  test("an engine that comes too late for a search is left to the next one", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const late = Promise.withResolvers<void>();
    const { engines, search } = supervise({
      conduct: (number) => (number === 1 ? "deaf" : "answer"),
      starting: (number) => (number === 2 ? late.promise : undefined),
    });
    const refused = expect(search(build, jobOf({ movetimeMs: 500 }), forever)).rejects.toMatchObject({
      kind: "out_of_time",
    });
    await wait(1400);
    await refused;
    late.resolve();
    await wait(0);
    expect(await search(build, jobOf(), forever)).toEqual(fakeAnswer);
    expect(engines.starts).toBe(2);
  });

  test("a search whose engine fails is not tried again when no time is left for it", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const { engines, search } = supervise({
      conduct: (number) => {
        vi.advanceTimersByTime(number === 1 ? 0 : 1390);
        return "suspended";
      },
    });
    await expect(search(build, jobOf({ movetimeMs: 500 }), forever)).rejects.toMatchObject({
      kind: "out_of_time",
    });
    expect(engines.jobs).toHaveLength(1);
  });

  test("a retry sets no negative timer if its own process stood still meanwhile", async () => {
    takeClock();
    // Not a spy: vitest restores those once more after the file, when the clock that it has seen is gone.
    const { setTimeout } = globalThis;
    const ask = vi.fn(setTimeout);
    globalThis.setTimeout = Object.assign(ask, { __promisify__: setTimeout.__promisify__ });
    onTestFinished(() => {
      globalThis.setTimeout = setTimeout;
      giveClockBack();
    });
    const { search } = supervise({ conduct: () => "suspended" });
    const standStill = () => void vi.advanceTimersByTime(60_000);
    const answer = search(build, jobOf({ movetimeMs: 500 }), forever, standStill);
    await expect(answer).rejects.toThrow(EngineFailure);
    expect(ask.mock.calls.length).toBeGreaterThan(0);
    expect(ask.mock.calls.filter(([, ms]) => ms !== undefined && ms < 0)).toEqual([]);
  });

  test("an engine that crashes after its caller has left counts against the position", async () => {
    const { engines, search } = supervise({ conduct: () => "go on" });
    for (const at of [0, 1]) {
      const caller = new AbortController();
      const { answer } = await underWay((onProgress) => search(build, job, caller.signal, onProgress));
      caller.abort(new Error("left"));
      await expect(answer).rejects.toThrow("left");
      const kind = at === 0 ? "overran" : "exited";
      engines.sessions[at]?.die(new EngineFailure(kind, "while it was to stop"));
      await new Promise(setImmediate);
    }
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "quarantined" });
  });

  test("an engine that crashes long after its caller has left, in another search, does not count against the position", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number < 3 ? "go on" : "answer") });
    const other = jobOf({ fen: "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" });
    for (const at of [0, 1]) {
      for (const asked of [job, other]) {
        const caller = new AbortController();
        const { answer } = await underWay((onProgress) => search(build, asked, caller.signal, onProgress));
        if (asked === other) {
          engines.sessions[at]?.die(new EngineFailure("overran", "no bestmove after stop"));
          await expect(answer).rejects.toMatchObject({ kind: "overran" });
        } else {
          caller.abort(new Error("left"));
          await expect(answer).rejects.toThrow("left");
        }
      }
    }
    expect(await search(build, job, forever)).toEqual(fakeAnswer);
  });

  test("an engine that ends after a long idle time does not count against the position", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const { engines, search } = supervise({ conduct: (number) => (number < 3 ? "go on" : "answer") });
    for (const at of [0, 1]) {
      const caller = new AbortController();
      const { answer } = await underWay((onProgress) => search(build, job, caller.signal, onProgress));
      caller.abort(new Error("left"));
      await expect(answer).rejects.toThrow("left");
      await wait(2000);
      engines.sessions[at]?.die(new EngineFailure("exited", "closed its pipe"));
      await wait(0);
    }
    expect(await search(build, job, forever)).toEqual(fakeAnswer);
  });

  test("a search whose engine fails is not tried again when the caller has left", async () => {
    const caller = new AbortController();
    const { engines, search } = supervise({ conduct: () => "exited" });
    const running = search(build, job, caller.signal, () => {
      // The engine has failed then, the retrying search does not know it yet.
      void engines.sessions[0]?.exited.then(() => caller.abort(new Error("left")));
    });
    await expect(running).rejects.toThrow("left");
    expect(engines.starts).toBe(1);
  });

  test("a search that fails for another reason than its engine is not tried again", async () => {
    const bug = new Error("bug");
    const { engines, search } = supervise({ starting: () => Promise.reject(bug) });
    await expect(search(build, job, forever)).rejects.toBe(bug);
    expect(engines.starts).toBe(1);
  });
});

describe("the states of a search", () => {
  test("the states of a search are reported as they come, and not after the answer", async () => {
    const { search } = supervise({});
    const events: SearchEvent[] = [];
    events.push(await search(build, job, forever, (progress) => events.push(progress)));
    expect(events).toEqual([fakeProgress, fakeAnswer]);
  });

  test("the states of a search begin again when another engine runs it", async () => {
    const { search } = supervise({ conduct: (number) => (number === 1 ? "exited" : "answer") });
    const events: SearchEvent[] = [];
    events.push(await search(build, job, forever, (progress) => events.push(progress)));
    expect(events).toEqual([fakeProgress, fakeProgress, fakeAnswer]);
  });
});

describe("the engine of a search", () => {
  test("the engine of a search serves the next one", async () => {
    const { engines, search } = supervise({});
    await search(build, job, forever);
    await search(build, job, forever);
    expect(engines.starts).toBe(1);
  });

  test("the engine of a search serves the next one when its caller leaves, and the caller gets its own abort reason", async () => {
    const { engines, pool, search } = supervise({ conduct: () => "go on" });
    const caller = new AbortController();
    const { answer } = await underWay((onProgress) => search(build, job, caller.signal, onProgress));
    caller.abort(new Error("left"));
    await expect(answer).rejects.toThrow("left");
    expect(await pool.acquire(build, forever)).toBe(engines.sessions[0]);
  });
});

test("a search that its caller has left ends when its engine does", async () => {
  const stopping = Promise.withResolvers<void>();
  const { pool, search } = supervise({ conduct: () => "go on", stopping: stopping.promise });
  const caller = new AbortController();
  const { answer } = await underWay((onProgress) => search(build, job, caller.signal, onProgress));
  let over = false;
  const left = answer.catch((reason: unknown) => {
    over = true;
    return reason;
  });
  caller.abort(new Error("left"));
  await new Promise(setImmediate);
  expect(over).toBe(false);
  // Nor is it acquired to anybody else.
  const other = await pool.acquire(build, forever);
  expect(other).toMatchObject({ number: 2 });
  stopping.resolve();
  expect(await left).toBe(caller.signal.reason);
});

test("a search in flight when the pool is closed ends, and starts no other engine", async () => {
  const { engines, pool, search } = supervise({ conduct: () => "go on" });
  const { answer } = await underWay((onProgress) => search(build, job, forever, onProgress));
  await pool[Symbol.asyncDispose]();
  await expect(answer).rejects.toMatchObject({ code: "shutting_down" });
  await expect(search(build, job, forever)).rejects.toMatchObject({ code: "shutting_down" });
  expect(engines.starts).toBe(1);
  expect(engines.sessions.filter(({ alive }) => alive)).toEqual([]);
});
