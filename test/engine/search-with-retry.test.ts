import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EngineFailure, type FailureKind, type SearchEvent } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { createQuarantine, createSearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { silentLog } from "../../src/log/log.ts";
import { patienceMs } from "../support/patience.ts";
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
    memoryMaxBytes: Number.POSITIVE_INFINITY,
    log: silentLog,
  });
  return { engines, pool, search: createSearchWithRetry(pool, silentLog) };
}

describe("a search whose engine fails", () => {
  test.each<FailureKind>(["exited", "killed", "flooded", "protocol_error", "unresponsive"])(
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

  test("a search whose engine fails as overtime is not tried again, because its time is used up", async () => {
    const { engines, search } = supervise({ conduct: () => "overtime" });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "overtime" });
    expect(engines.starts).toBe(1);
  });

  test("a search whose engine fails is tried once more, and then fails as the second engine did", async () => {
    const { engines, search } = supervise({
      conduct: (number) => (number === 1 ? "protocol_error" : "unresponsive"),
    });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "unresponsive" });
    expect(engines.starts).toBe(2);
  });

  test("a position that engines crashed on twice is refused for a while, and no other", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number < 3 ? "exited" : "answer") });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "exited" });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "quarantined" });
    expect(engines.starts).toBe(2);
    const other = jobOf({ fen: "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" });
    expect(await search(build, other, forever)).toEqual(fakeAnswer);
  });

  test("a kill from outside never counts against the position", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number <= 10 ? "killed" : "answer") });
    for (let round = 0; round < 5; round++) {
      await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "killed" });
    }
    expect(await search(build, job, forever)).toEqual(fakeAnswer);
    expect(engines.starts).toBe(11);
  });

  test("a search on a slow machine that is out of time twice is not refused the third time", async () => {
    const { search } = supervise({ conduct: (number) => (number < 3 ? "overtime" : "answer") });
    for (const kind of ["overtime", "overtime"]) {
      await expect(search(build, job, forever)).rejects.toMatchObject({ kind });
    }
    expect(await search(build, job, forever)).toEqual(fakeAnswer);
  });

  test("a search whose engine fails is tried again only for as long as its caller may have to wait", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const elapsedMs = [0, 700];
    const { engines, search } = supervise({
      conduct: (number) => {
        vi.advanceTimersByTime(elapsedMs[number - 1] ?? 0);
        return number < 2 ? "unresponsive" : "answer";
      },
    });
    expect(await search(build, jobOf({ movetimeMs: 500 }), forever)).toEqual(fakeAnswer);
    // 500 ms and 500 for failures are 1000 from the beginning of the first search.
    expect(engines.jobs.map(({ movetimeMs }) => movetimeMs)).toEqual([500, 300]);
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

  test("an engine that starts too late for a search serves the next search", async () => {
    takeClock();
    onTestFinished(giveClockBack);
    const late = Promise.withResolvers<void>();
    const { engines, search } = supervise({
      conduct: (number) => (number === 1 ? "unresponsive" : "answer"),
      starting: (number) => (number === 2 ? late.promise : undefined),
    });
    const refused = expect(search(build, jobOf({ movetimeMs: 500 }), forever)).rejects.toMatchObject({
      kind: "overtime",
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
        vi.advanceTimersByTime(number === 1 ? 0 : 990);
        return "unresponsive";
      },
    });
    await expect(search(build, jobOf({ movetimeMs: 500 }), forever)).rejects.toMatchObject({
      kind: "overtime",
    });
    expect(engines.jobs).toHaveLength(1);
  });

  test("an engine that breaks after its caller has left, because of the position, counts against the position", async () => {
    const { engines, search } = supervise({ conduct: () => "go on", stopping: new Promise(() => {}) });
    const failures = [
      new EngineFailure("overtime", "ignored stop", { blamesPosition: true }),
      new EngineFailure("exited", "while it was to stop"),
    ];
    for (const [at, failure] of failures.entries()) {
      const caller = new AbortController();
      const { answer } = await underWay((onProgress) => search(build, job, caller.signal, onProgress));
      caller.abort(new Error("left"));
      engines.sessions[at]?.die(failure);
      await expect(answer).rejects.toThrow("left");
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
          engines.sessions[at]?.die(new EngineFailure("overtime", "ignored stop", { blamesPosition: true }));
          await expect(answer).rejects.toMatchObject({ kind: "overtime" });
        } else {
          caller.abort(new Error("left"));
          await expect(answer).rejects.toThrow("left");
        }
      }
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

test("a search whose caller has left ends when its engine ends", async () => {
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

const crash = new EngineFailure("exited", "crashed");
const overrun = new EngineFailure("overtime", "ignored stop", { blamesPosition: true });

describe("a position", () => {
  test("a position is refused after two failures that were the engines' own", () => {
    const quarantine = createQuarantine(60_000);
    quarantine.note(build, job, crash);
    expect(quarantine.refusedMs(build, job)).toBe(0);
    quarantine.note(build, job, new EngineFailure("flooded", "printed without an end"));
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(59_000);
  });

  test.each(["killed", "unresponsive", "overtime", "no_start", "protocol_error"] as const)(
    "a position is not blamed for %s: the machine may be slow, or the engine broken",
    (kind) => {
      const quarantine = createQuarantine();
      for (let time = 0; time < 5; time++) {
        quarantine.note(build, job, new EngineFailure(kind, "not the position"));
      }
      expect(quarantine.refusedMs(build, job)).toBe(0);
    },
  );

  test("a position is refused only on the build that it breaks", () => {
    const quarantine = createQuarantine();
    quarantine.note(build, job, overrun);
    quarantine.note(build, job, overrun);
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(0);
    expect(quarantine.refusedMs(buildOf({ path: "native" }), job)).toBe(0);
  });

  test("a quarantined position is refused with any options and limits", () => {
    const quarantine = createQuarantine();
    quarantine.note(build, jobOf({ nodes: 5000 }), crash);
    quarantine.note(build, jobOf({ searchMoves: ["e2e4"] }), crash);
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(0);
  });

  test("a quarantined position may be tried again after a while", async () => {
    const quarantine = createQuarantine(50);
    quarantine.note(build, job, overrun);
    quarantine.note(build, job, overrun);
    await vi.waitFor(() => expect(quarantine.refusedMs(build, job)).toBe(0), patienceMs);
  });
});
