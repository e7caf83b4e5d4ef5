import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineBackend, EngineBuild, EngineSession } from "../../src/engine/engine.ts";
import { startFen } from "../chess/validated.ts";
import { jobOf, underWay } from "../engine/job-of.ts";
import { enginesRunning } from "../engine/processes.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";
import { middleGame } from "./determinism.ts";

const forever = new AbortController().signal;
const tries = 20;

/** Defines tests of response times for a backend. The engine has already run a search when these tests begin. */
export function testBackendTimes(
  name: string,
  backend: EngineBackend,
  pickBuild: (build: EngineBuild) => boolean,
): void {
  describe(name, () => {
    let session: EngineSession;
    beforeAll(async () => {
      const build =
        (await backend.discover(forever)).find(pickBuild) ?? expect.fail("the build was not found");
      session = await backend.start(build, forever);
      await session.search(jobOf({ fen: middleGame, depth: 8 }), forever);
    });
    /** Returns the threads that take part in a search. An engine reads commands in one thread, and may search in another. */
    const threadsOfSearch = () => {
      const [pid = 0] = enginesRunning();
      return [process.pid, ...readdirSync(`/proc/${pid}/task`).map(Number)];
    };
    afterAll(() => session?.[Symbol.asyncDispose]());

    test(`${name} answers within 100 ms after the time limit of a search`, async () => {
      const movetimeMs = 100;
      const { medianMs, worstMs } = await timesOf(tries, async () => {
        const job = jobOf({ fen: middleGame, depth: 245, movetimeMs });
        const answer = session.search(job, forever);
        // Measure from the limit on. A busy core delays nothing before the limit.
        const sinceLimit = sleep(movetimeMs).then(() => startStopwatch(...threadsOfSearch()));
        expect(await answer).toMatchObject({ endedBy: "time" });
        return (await sinceLimit)();
      });
      expect(medianMs).toBeLessThan(50);
      expect(worstMs).toBeLessThan(100);
    });

    test(`${name} can start the next search within 500 ms after a client has disconnected`, async () => {
      const { medianMs, worstMs } = await timesOf(tries, async () => {
        const caller = new AbortController();
        const long = jobOf({ fen: startFen, depth: 245 });
        const { answer } = await underWay((onProgress) => session.search(long, caller.signal, onProgress));
        const sinceLeaving = startStopwatch(...threadsOfSearch());
        caller.abort(new Error("left"));
        await expect(answer).rejects.toThrow("left");
        await session.search(jobOf({ depth: 1 }), forever);
        return sinceLeaving();
      });
      expect(medianMs).toBeLessThan(100);
      expect(worstMs).toBeLessThan(500);
    });
  });
}
