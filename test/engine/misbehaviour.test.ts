import { afterEach, describe, expect, test } from "vitest";
import type { EngineSession, FailureKind } from "../../src/engine/engine.ts";
import { defaultWatchTimes, type WatchTimes } from "../../src/engine/uci/watch.ts";
import { createFakeBackend, type Misbehaviour } from "../support/fake-engine/index.ts";
import { buildOf } from "./build-of.ts";
import { jobOf } from "./job-of.ts";
import { enginesRunning } from "./processes.ts";

const forever = new AbortController().signal;
const sessions: EngineSession[] = [];
// Short, but long enough that an engine which behaves is not taken for one that does not.
const times = { ...defaultWatchTimes, silenceMs: 200, unresponsiveMs: 400, lateMs: 100, stopMs: 200 };

async function start(misbehaviour: Misbehaviour, own: Partial<WatchTimes> = {}) {
  const session = await createFakeBackend({ misbehaviour, times: { ...times, ...own } }).start(
    buildOf(),
    forever,
  );
  sessions.push(session);
  return session;
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session[Symbol.asyncDispose]()));
  await expect.poll(enginesRunning).toEqual([]);
});

describe("a process that is to search and", () => {
  test.each<[what: string, Misbehaviour, movetimeMs: number, FailureKind]>([
    ["ends", "exit", 60_000, "exited"],
    ["refuses the position", "refuse", 60_000, "protocol_error"],
    ["has no move", "no-move", 60_000, "protocol_error"],
    ["prints without an end", "flood", 60_000, "exited"],
    ["hears nothing any more", "hang", 60_000, "unresponsive"],
    ["hears nothing any more at its limit", "hang", 100, "overtime"],
    ["goes on after its limit and after stop", "go-on", 100, "overtime"],
  ])(
    "an engine process that is to search and %s fails with its cause, and is gone",
    async (_, misbehaviour, movetimeMs, kind) => {
      const session = await start(misbehaviour);
      const search = session.search(jobOf({ depth: 3, movetimeMs }), forever);
      await expect(search).rejects.toMatchObject({ name: "EngineFailure", kind });
      expect(await session.exited).toMatchObject({ kind });
      expect(enginesRunning()).toEqual([]);
    },
  );
});

test("an engine that hangs while it is cleaned is gone, and no later search is blamed", async () => {
  // An engine that is slow in its search must not be asked for a sign of life, whose answer could come after the search.
  const session = await start("stuck", { silenceMs: 60_000 });
  await session.search(jobOf({ depth: 2 }), forever);
  const next = session.search(jobOf({ depth: 2 }), forever);
  await expect(next).rejects.toMatchObject({ name: "EngineFailure", kind: "no_start" });
  expect(await session.exited).toMatchObject({ kind: "unresponsive" });
  expect(enginesRunning()).toEqual([]);
});

test("a process that never greets counts as not started", async () => {
  await expect(start("mute", { startMs: 500 })).rejects.toMatchObject({ kind: "no_start" });
});

test("an engine that keeps its hash answers otherwise, so each caller has a new game", async () => {
  const session = await start("remember");
  const nodes = async () => (await session.search(jobOf({ depth: 2 }), forever)).snapshot.counters.nodes;
  expect(await nodes()).not.toBe(await nodes());
});
