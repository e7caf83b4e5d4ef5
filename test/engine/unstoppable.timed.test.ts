import { expect, test } from "vitest";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";
import { jobOf } from "./job-of.ts";
import { enginesRunning } from "./processes.ts";
import { unstoppable } from "./unstoppable.ts";

const forever = new AbortController().signal;
const movetimeMs = 200;

test("a search that does not stop fails within 1.5 s after its time limit, and leaves no engine behind", async () => {
  const backend = createWasmBackend({ hashMb: 16, threads: 1 }, noSandbox);
  const builds = await backend.discover(forever);
  const build = builds.find(({ net }) => net === "lite") ?? expect.fail("the build was not found");
  const { medianMs, worstMs } = await timesOf(
    20,
    async () => {
      await using session = await backend.start(build, forever);
      // The engine need not do anything in time, so only this process is watched.
      const sinceStart = startStopwatch();
      const search = session.search(jobOf({ fen: unstoppable, movetimeMs }), forever);
      await expect(search).rejects.toMatchObject({ name: "EngineFailure", kind: "overtime" });
      const tookMs = sinceStart();
      await session.exited;
      return tookMs;
    },
    5,
  );
  expect(enginesRunning()).toEqual([]);
  expect(medianMs).toBeLessThan(movetimeMs + 1000);
  expect(worstMs).toBeLessThan(movetimeMs + 1500);
});
