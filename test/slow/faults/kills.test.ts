import { expect, test } from "vitest";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { killEngines } from "./kill-engines.ts";

const dataDir = useTemporaryFolder();

test("no request is lost and no process left if engines are killed and suspended at random under load", async () => {
  const { answered, lost, left, exitCode } = await killEngines({ kills: 12, everyMs: 300, seed: 7, dataDir });
  expect(lost).toEqual([]);
  expect(answered).toBeGreaterThan(10);
  expect(left).toEqual([]);
  expect(exitCode).toBe(0);
}, 300_000);
