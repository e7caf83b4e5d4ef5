import { expect, test } from "vitest";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { killEngines } from "./kill-engines.ts";

const dataDir = useTemporaryFolder();

test("1 request in 100 at most is refused, none is lost, and no process is left if engines are killed and suspended at random under load", async () => {
  const kills = { kills: 12, everyMs: 300, seed: 7, dataDir };
  const { answered, overloaded, lost, left, exitCode } = await killEngines(kills);
  expect(lost).toEqual([]);
  expect(answered).toBeGreaterThan(100);
  expect(overloaded).toBeLessThanOrEqual(answered / 100);
  expect(left).toEqual([]);
  expect(exitCode).toBe(0);
}, 300_000);
