import type * as WorkerThreads from "node:worker_threads";
import { expect, test, vi } from "vitest";
import { openTablebase } from "../../src/tablebase/tablebase.ts";
import { positionOf } from "../chess/validated.ts";
import { tablesFolder } from "../support/tables.ts";

const system = vi.hoisted(() => ({ hasThreads: true }));
vi.mock("node:worker_threads", async (original) => {
  const { Worker, ...others } = await original<typeof WorkerThreads>();
  return {
    ...others,
    Worker: class extends Worker {
      constructor(file: URL) {
        if (!system.hasThreads) {
          // Node throws this error if the system refuses to start a thread.
          throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" });
        }
        super(file);
      }
    },
  };
});

test("a table that could not be verified because the system had no threads left is used later", async () => {
  const problems: string[] = [];
  await using tablebase = await openTablebase([tablesFolder], {
    onProblem: (_, problem) => problems.push(problem),
  });
  const rookWins = positionOf("8/8/8/3k4/8/8/8/K6R w - - 0 1");
  system.hasThreads = false;
  for (let count = 0; count < 2; count++) {
    expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "miss", reason: "unusable_table" });
  }
  expect(problems).toEqual(["EAGAIN"]);
  system.hasThreads = true;
  expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "known", value: { category: "win" } });
});
