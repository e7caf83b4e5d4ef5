import { describe, expect, test } from "vitest";
import { EngineFailure, type FailureKind } from "../../src/engine/engine.ts";
import { createPool } from "../../src/engine/pool.ts";
import { createSupervisor } from "../../src/engine/supervisor.ts";
import { silentLog } from "../../src/log.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines, type FakeEnginesOptions, fakeAnswer } from "./fake-engines.ts";
import { answerOf, eventsOf, jobOf } from "./job-of.ts";

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
  return { engines, pool, search: createSupervisor(pool, silentLog) };
}

describe("a search whose engine fails", () => {
  test.each<FailureKind>(["exited", "confused", "deaf", "suspended"])(
    "because it is %s is answered by another engine",
    async (kind) => {
      const { engines, search } = supervise({ conduct: (number) => (number === 1 ? kind : "answer") });
      expect(await answerOf(search(build, job, forever))).toEqual(fakeAnswer);
      expect(engines.sessions.map(({ alive }) => alive)).toEqual([false, true]);
    },
  );

  test("because it does not start is answered by another engine", async () => {
    const failure = new EngineFailure("no_start", "not this time");
    const { engines, search } = supervise({
      starting: (number) => (number === 1 ? Promise.reject(failure) : undefined),
    });
    expect(await answerOf(search(build, job, forever))).toEqual(fakeAnswer);
    expect(engines.starts).toBe(2);
  });

  test("because it overran is not tried again: the time is used up", async () => {
    const { engines, search } = supervise({ conduct: () => "overran" });
    await expect(eventsOf(search(build, job, forever))).rejects.toMatchObject({ kind: "overran" });
    expect(engines.starts).toBe(1);
  });

  test("is tried three times, and then fails as the last engine did", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number < 3 ? "killed" : "deaf") });
    await expect(eventsOf(search(build, job, forever))).rejects.toMatchObject({ kind: "deaf" });
    expect(engines.starts).toBe(3);
  });

  test("of itself twice is refused for a while on that position, and on no other", async () => {
    const { engines, search } = supervise({ conduct: (number) => (number < 3 ? "exited" : "answer") });
    await expect(eventsOf(search(build, job, forever))).rejects.toMatchObject({ kind: "exited" });
    await expect(eventsOf(search(build, job, forever))).rejects.toMatchObject({ kind: "quarantined" });
    expect(engines.starts).toBe(2);
    const other = jobOf({ fen: "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" });
    expect(await eventsOf(search(build, other, forever))).toContainEqual(fakeAnswer);
  });

  test("because it is killed from outside never counts against the position", async () => {
    const { search } = supervise({ conduct: (number) => (number % 3 === 0 ? "answer" : "killed") });
    for (let round = 0; round < 5; round++) {
      expect(await eventsOf(search(build, job, forever))).toContainEqual(fakeAnswer);
    }
  });

  test("is not tried again when the caller has left", async () => {
    const caller = new AbortController();
    const { engines, search } = supervise({ conduct: () => "exited" });
    const running = search(build, job, caller.signal)[Symbol.asyncIterator]();
    await running.next();
    const next = running.next();
    // The engine has failed, the supervisor does not know it yet.
    void engines.sessions[0]?.exited.then(() => caller.abort(new Error("left")));
    await expect(next).rejects.toThrow("left");
    expect(engines.starts).toBe(1);
  });

  test("for another reason than its engine is not tried again", async () => {
    const bug = new Error("bug");
    const { engines, search } = supervise({ starting: () => Promise.reject(bug) });
    await expect(eventsOf(search(build, job, forever))).rejects.toBe(bug);
    expect(engines.starts).toBe(1);
  });
});

describe("the engine of a search", () => {
  test("serves the next one", async () => {
    const { engines, search } = supervise({});
    await answerOf(search(build, job, forever));
    await answerOf(search(build, job, forever));
    expect(engines.starts).toBe(1);
  });

  test("serves the next one when its caller breaks off", async () => {
    const { engines, search } = supervise({});
    for await (const event of search(build, job, forever)) {
      expect(event.kind).toBe("progress");
      break;
    }
    await answerOf(search(build, job, forever));
    expect(engines.starts).toBe(1);
  });

  test("serves the next one when its caller leaves, who gets its own reason", async () => {
    const { engines, pool, search } = supervise({ conduct: () => "go on" });
    const caller = new AbortController();
    const running = search(build, job, caller.signal)[Symbol.asyncIterator]();
    await running.next();
    const next = running.next();
    caller.abort(new Error("left"));
    await expect(next).rejects.toThrow("left");
    expect(await pool.lend(build, forever)).toBe(engines.sessions[0]);
  });
});

test("a search under way when the pool is closed ends, and starts no other engine", async () => {
  const { engines, pool, search } = supervise({ conduct: () => "go on" });
  const running = search(build, job, forever)[Symbol.asyncIterator]();
  await running.next();
  const next = running.next();
  next.catch(() => {});
  await pool[Symbol.asyncDispose]();
  await expect(next).rejects.toThrow("closed");
  expect(engines.starts).toBe(1);
  expect(engines.sessions.filter(({ alive }) => alive)).toEqual([]);
});
