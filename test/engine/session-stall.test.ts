import { expect, onTestFinished, test } from "vitest";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { createFakeBackend } from "../support/fake-engine/index.ts";
import { buildOf } from "./build-of.ts";
import { jobOf, underWay } from "./job-of.ts";

const forever = new AbortController().signal;

/** This process stands still, as after SIGSTOP, in a debugger, or while memory is collected. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function searching(movetimeMs: number, signal = forever) {
  const session = await createFakeBackend({ iterationMs: 5 }).start(buildOf(), forever);
  onTestFinished(() => session[Symbol.asyncDispose]());
  const job = jobOf({ depth: 100_000, movetimeMs });
  const { answer } = await underWay((onProgress) => session.search(job, signal, onProgress));
  return { session, answer };
}

test("an engine is not killed if its answer was there before the server read it", async () => {
  const { session, answer } = await searching(50);
  standStill(defaultWatchTimes.lateMs + defaultWatchTimes.stopMs + 1000);
  expect((await answer).endedBy).toBe("time");
  expect(session.alive).toBe(true);
});

test("an engine that stopped in time is not killed because the server read late", async () => {
  const caller = new AbortController();
  const { session, answer } = await searching(60_000, caller.signal);
  caller.abort(new Error("left"));
  await expect(answer).rejects.toThrow("left");
  standStill(defaultWatchTimes.stopMs + 1000);
  expect((await session.search(jobOf({ depth: 2 }), forever)).endedBy).toBe("depth");
});
