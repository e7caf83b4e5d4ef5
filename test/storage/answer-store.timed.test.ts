import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteAnswerStore } from "../../src/storage/sqlite/answer-store.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();

test("a locked file of stored answers blocks no request, and waiting answers are written within 1 s after its release", async () => {
  const format = { version: 1, read: (json: unknown) => json };
  const store = openSqliteAnswerStore(folder, { bytes: 1e6, format });
  onTestFinished(() => store[Symbol.dispose]());
  const other = new DatabaseSync(join(folder, "answers.db"));
  onTestFinished(() => other.close());
  const rows = () => Number(other.prepare("SELECT count(*) AS rows FROM answer").get()?.rows);

  const turnMs = 10;
  const asking: number[] = [];
  const release = await timesOf(20, async (round) => {
    other.exec("BEGIN IMMEDIATE");
    for (let turn = 0; turn < 10; turn++) {
      const stop = startStopwatch();
      store.set(`${round} ${turn}`, { text: "x".repeat(1000) });
      store.get("unknown");
      // Answers are written by this thread, so waiting for the lock would delay this timer.
      await sleep(turnMs);
      asking.push(stop() - turnMs);
    }
    other.exec("ROLLBACK");
    const stop = startStopwatch();
    while (rows() < 10 * (round + 1)) {
      await sleep(5);
    }
    return stop();
  });
  asking.sort((a, b) => a - b);
  expect(asking[100]).toBeLessThan(5);
  expect(asking.at(-1)).toBeLessThan(50);
  expect(release.medianMs).toBeLessThan(500);
  expect(release.worstMs).toBeLessThan(1000);
});
