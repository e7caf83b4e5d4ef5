import { expect, onTestFinished, test, vi } from "vitest";
import { startHashThread } from "../../src/tablebase/hasher.ts";
import { openTablebase } from "../../src/tablebase/tablebase.ts";
import { positionOf } from "../chess/validated.ts";
import { tablesFolder } from "../support/tables.ts";

test("a table that could not be verified because the system had no threads left is verified again after a pause that grows", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const problems: string[] = [];
  let attempts = 0;
  let hasThreads = false;
  await using tablebase = await openTablebase([tablesFolder], {
    onProblem: (_, problem) => problems.push(problem),
    startThread() {
      attempts++;
      if (!hasThreads) {
        // Node throws this error if the system refuses to start a thread.
        throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" });
      }
      return startHashThread();
    },
  });
  const rookWins = positionOf("8/8/8/3k4/8/8/8/K6R w - - 0 1");
  const pausesMs: number[] = [];
  for (let sinceMs = 0; sinceMs < 300_000; sinceMs += 500) {
    expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "miss", reason: "unusable_table" });
    if (attempts > pausesMs.length) {
      pausesMs.push(sinceMs - pausesMs.reduce((sum, pause) => sum + pause, 0));
    }
    vi.advanceTimersByTime(500);
  }
  expect(pausesMs).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  expect(problems).toEqual(["EAGAIN"]);
  hasThreads = true;
  vi.advanceTimersByTime(60_000);
  expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "known", value: { category: "win" } });
});
