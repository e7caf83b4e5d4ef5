import { expect, test } from "vitest";
import { startHashThread } from "../../src/tablebase/hasher.ts";
import { openTablebase } from "../../src/tablebase/tablebase.ts";
import { positionOf } from "../chess/validated.ts";
import { tablesFolder } from "../support/tables.ts";

test("a table that could not be verified because the system had no threads left is used later", async () => {
  const problems: string[] = [];
  let hasThreads = false;
  await using tablebase = await openTablebase([tablesFolder], {
    onProblem: (_, problem) => problems.push(problem),
    startThread() {
      if (!hasThreads) {
        // Node throws this error if the system refuses to start a thread.
        throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" });
      }
      return startHashThread();
    },
  });
  const rookWins = positionOf("8/8/8/3k4/8/8/8/K6R w - - 0 1");
  for (let count = 0; count < 2; count++) {
    expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "miss", reason: "unusable_table" });
  }
  expect(problems).toEqual(["EAGAIN"]);
  hasThreads = true;
  expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "known", value: { category: "win" } });
});
