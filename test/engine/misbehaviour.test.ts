import { afterEach, expect, test } from "vitest";
import type { EngineSession, FailureKind } from "../../src/engine/engine.ts";
import { defaultWatchTimes, type WatchTimes } from "../../src/engine/uci/watch.ts";
import { createFakeBackend, type Misbehaviour } from "../support/fake-engine/index.ts";
import { buildOf } from "./build-of.ts";
import { jobOf } from "./job-of.ts";
import { enginesRunning } from "./processes.ts";

const forever = new AbortController().signal;
const sessions: EngineSession[] = [];
/** A long limit for silence, so that the engine fails for another reason first. */
const patient = { silenceMs: 60_000 };

async function start(misbehaviour: Misbehaviour, own: Partial<WatchTimes>) {
  const times = { ...defaultWatchTimes, unresponsiveMs: 400, lateMs: 100, stopMs: 200, ...own };
  const session = await createFakeBackend({ misbehaviour, times }).start(buildOf(), forever);
  sessions.push(session);
  return session;
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session[Symbol.asyncDispose]()));
  await expect.poll(enginesRunning).toEqual([]);
});

test.each<[what: string, Misbehaviour, times: Partial<WatchTimes>, movetimeMs: number, FailureKind]>([
  ["ends in a search", "exit", patient, 60_000, "exited"],
  ["stops reading in a search", "hang", { silenceMs: 200 }, 60_000, "unresponsive"],
  ["has stopped reading at its limit", "hang", patient, 100, "overtime"],
  ["goes on after its limit and after stop", "go-on", patient, 100, "overtime"],
])(
  "an engine process that %s fails with its kind of failure, and is gone",
  async (_, misbehaviour, times, movetimeMs, kind) => {
    const session = await start(misbehaviour, times);
    const search = session.search(jobOf({ depth: 3, movetimeMs }), forever);
    await expect(search).rejects.toMatchObject({ name: "EngineFailure", kind });
    expect(await session.exited).toMatchObject({ kind });
    expect(enginesRunning()).toEqual([]);
  },
);

test("an engine process that hangs while it is cleaned is gone, and no later search is blamed", async () => {
  const session = await start("stuck", patient);
  await session.search(jobOf({ depth: 2 }), forever);
  const next = session.search(jobOf({ depth: 2 }), forever);
  await expect(next).rejects.toMatchObject({ name: "EngineFailure", kind: "no_start" });
  expect(await session.exited).toMatchObject({ kind: "unresponsive" });
  expect(enginesRunning()).toEqual([]);
});
