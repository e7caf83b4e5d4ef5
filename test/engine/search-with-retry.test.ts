import { describe, expect, test, vi } from "vitest";
import { EngineFailure, type FailureKind, type SearchEvent } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { createSearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { silentLog } from "../../src/log/log.ts";
import { patienceMs } from "../support/patience.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, type FakeEnginesOptions, fakeAnswer, fakeProgress } from "./fake-engines.ts";
import { jobOf, underWay } from "./job-of.ts";

const forever = new AbortController().signal;
const build = buildOf();
const job = jobOf();

function supervise(options: FakeEnginesOptions, refuseMs?: number) {
  const engines = createFakeEngines(options);
  const pool = createPool({
    start: engines.start,
    memoryMaxBytes: Number.POSITIVE_INFINITY,
    log: silentLog,
  });
  return { engines, pool, search: createSearchWithRetry(pool, silentLog, refuseMs) };
}

describe("a search whose engine fails", () => {
  test.each<FailureKind>(["exited", "killed", "flooded", "protocol_error", "unresponsive"])(
    "a search whose engine is %s is repeated on another engine with the same limits",
    async (kind) => {
      const { engines, search } = supervise({ conduct: (number) => (number === 1 ? kind : "answer") });
      expect(await search(build, job, forever)).toEqual(fakeAnswer);
      expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, true]);
      expect(engines.jobs).toEqual([job, job]);
    },
  );

  test("a search whose engine does not start is repeated on another engine", async () => {
    const failure = new EngineFailure("no_start", "not this time");
    const { engines, search } = supervise({
      starting: (number) => (number === 1 ? Promise.reject(failure) : undefined),
    });
    expect(await search(build, job, forever)).toEqual(fakeAnswer);
    expect(engines.starts).toBe(2);
  });

  test("a search whose engine exceeds its time is not retried, because no time remains", async () => {
    const { engines, search } = supervise({ conduct: () => "overtime" });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "overtime" });
    expect(engines.starts).toBe(1);
  });

  test("a search whose engine fails is retried once, and if the retry fails too, the search fails with the second failure", async () => {
    const { engines, search } = supervise({
      conduct: (number) => (number === 1 ? "protocol_error" : "unresponsive"),
    });
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "unresponsive" });
    expect(engines.starts).toBe(2);
  });

  test("a failure caused by a position counts towards the quarantine of this position even after the client has disconnected", async () => {
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

  test("a crash in a later search does not count towards the quarantine of an earlier position", async () => {
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

  test("a search whose engine fails is not retried if the client has disconnected", async () => {
    const caller = new AbortController();
    const { engines, search } = supervise({ conduct: () => "exited" });
    const running = search(build, job, caller.signal, () => {
      // The engine has failed, but the retry has not noticed the failure yet.
      void engines.sessions[0]?.exited.then(() => caller.abort(new Error("left")));
    });
    await expect(running).rejects.toThrow("left");
    expect(engines.starts).toBe(1);
  });

  test("a search is not retried if the failure is not caused by its engine", async () => {
    const bug = new Error("bug");
    const { engines, search } = supervise({ starting: () => Promise.reject(bug) });
    await expect(search(build, job, forever)).rejects.toBe(bug);
    expect(engines.starts).toBe(1);
  });
});

describe("the snapshots of a search", () => {
  test("a search reports its snapshots before the result", async () => {
    const { search } = supervise({});
    const events: SearchEvent[] = [];
    events.push(await search(build, job, forever, (progress) => events.push(progress)));
    expect(events).toEqual([fakeProgress, fakeAnswer]);
  });

  test("a retried search reports its snapshots from the beginning", async () => {
    const { search } = supervise({ conduct: (number) => (number === 1 ? "exited" : "answer") });
    const events: SearchEvent[] = [];
    events.push(await search(build, job, forever, (progress) => events.push(progress)));
    expect(events).toEqual([fakeProgress, fakeProgress, fakeAnswer]);
  });
});

describe("the engine of a search", () => {
  test("the engine of a search is used again for the next search", async () => {
    const { engines, search } = supervise({});
    await search(build, job, forever);
    await search(build, job, forever);
    expect(engines.starts).toBe(1);
  });

  test("the engine of a search is used again after the client has disconnected", async () => {
    const { engines, pool, search } = supervise({ conduct: () => "go on" });
    const caller = new AbortController();
    const { answer } = await underWay((onProgress) => search(build, job, caller.signal, onProgress));
    caller.abort(new Error("left"));
    await expect(answer).rejects.toThrow("left");
    expect(await pool.acquire(build, forever)).toBe(engines.sessions[0]);
  });
});

test("a search whose client has disconnected ends when the engine exits", async () => {
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
  // The pool does not give the engine to another client.
  const other = await pool.acquire(build, forever);
  expect(other).toMatchObject({ number: 2 });
  stopping.resolve();
  expect(await left).toBe(caller.signal.reason);
});

test("a client that disconnects while its engine is cleaned is let go at once, and the next client gets this engine", async () => {
  const cleaned = Promise.withResolvers<void>();
  const { engines, search } = supervise({ cleaning: () => cleaned.promise });
  const caller = new AbortController();
  const began: boolean[] = [];
  const left = search(build, job, caller.signal, undefined, (hasEngine) => began.push(hasEngine));
  await vi.waitFor(() => expect(engines.sessions).toHaveLength(1));
  caller.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  expect([began, engines.jobs]).toEqual([[], []]);
  cleaned.resolve();
  expect(await search(build, job, forever)).toEqual(fakeAnswer);
  expect(engines.starts).toBe(1);
});

test("a search whose engine ends while it is cleaned is repeated on another engine", async () => {
  const { engines, search } = supervise({
    cleaning: async (number) => {
      if (number === 1) {
        engines.sessions[0]?.die(new EngineFailure("unresponsive", "no readyok"));
        throw new EngineFailure("no_start", "the engine was gone before the search began");
      }
    },
  });
  expect(await search(build, job, forever)).toEqual(fakeAnswer);
  expect(engines.starts).toBe(2);
});

test("closing the pool ends a running search without a retry", async () => {
  const { engines, pool, search } = supervise({ conduct: () => "go on" });
  const { answer } = await underWay((onProgress) => search(build, job, forever, onProgress));
  await pool[Symbol.asyncDispose]();
  await expect(answer).rejects.toMatchObject({ code: "shutting_down" });
  await expect(search(build, job, forever)).rejects.toMatchObject({ code: "shutting_down" });
  expect(engines.starts).toBe(1);
  expect(engines.sessions.filter(({ alive }) => alive)).toEqual([]);
});

describe("a position", () => {
  const other = jobOf({ fen: "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" });
  const elsewhere = buildOf({ id: "another" });

  test.each<FailureKind>(["exited", "flooded"])(
    "a position is refused on a build after two engines of the build failed with %s",
    async (kind) => {
      const { engines, search } = supervise({ conduct: (number) => (number < 3 ? kind : "answer") });
      await expect(search(build, jobOf({ searchMoves: ["e2e4"] }), forever)).rejects.toMatchObject({ kind });
      for (const refused of [job, jobOf({ nodes: 5000 })]) {
        await expect(search(build, refused, forever)).rejects.toMatchObject({ kind: "quarantined" });
      }
      expect(engines.starts).toBe(2);
      expect(await search(build, other, forever)).toEqual(fakeAnswer);
      expect(await search(elsewhere, job, forever)).toEqual(fakeAnswer);
    },
  );

  test.each<FailureKind>(["killed", "unresponsive", "overtime", "no_start", "protocol_error"])(
    "a position is not put into quarantine if its searches fail as %s",
    async (kind) => {
      const { search } = supervise({ conduct: (number) => (number < 9 ? kind : "answer") });
      const outcomes = [];
      for (let round = 0; round < 9; round++) {
        outcomes.push(await search(build, job, forever).catch((error) => error.kind));
      }
      expect(outcomes).not.toContain("quarantined");
      expect(outcomes.at(-1)).toEqual(fakeAnswer);
    },
  );

  test("a position can be searched again after the end of its quarantine", async () => {
    const { search } = supervise({ conduct: (number) => (number < 3 ? "exited" : "answer") }, 50);
    await expect(search(build, job, forever)).rejects.toMatchObject({ kind: "exited" });
    await vi.waitFor(async () => expect(await search(build, job, forever)).toEqual(fakeAnswer), patienceMs);
  });
});
