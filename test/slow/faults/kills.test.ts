import { expect, test } from "vitest";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { killEngines } from "./kill-engines.ts";

const dataDir = useTemporaryFolder();

test("under load, random kills and suspensions of engines lead to refusals for at most 1 request in 100; no request stays unanswered", async () => {
  const kills = { kills: 12, everyMs: 300, seed: 7, dataDir };
  const { answered, overloaded, lost, left, exitCode } = await killEngines(kills);
  expect(lost).toEqual([]);
  expect(answered).toBeGreaterThan(100);
  expect(overloaded).toBeLessThanOrEqual(answered / 100);
  expect(left).toEqual([]);
  expect(exitCode).toBe(0);
}, 300_000);
