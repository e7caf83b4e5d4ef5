import { expect, test } from "vitest";
import { killEngines } from "../slow/faults/kill-engines.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const kills = 500;
/** Until another engine is ready. At the median, because the starts compete with the searches, and with each other, for the cores. */
const readyMaxMs: Readonly<Record<string, number>> = { native: 500, wasm: 1500 };

const dataDir = useTemporaryFolder();

test("no request is lost and no process left if 500 engines are killed and suspended at random, and others are soon ready", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { answered, lost, left, exitCode, readyMs } = await killEngines({
    kills,
    everyMs: 150,
    seed,
    dataDir,
  });
  const medians = [...readyMs].map(([path, all]) => ({ path, ms: all[Math.floor(all.length / 2)] }));
  console.log(`seed ${seed}: ${answered} answered; median until another engine is ready:`, medians);
  expect(lost).toEqual([]);
  expect(answered).toBeGreaterThan(kills / 2);
  expect(left).toEqual([]);
  expect(exitCode).toBe(0);
  for (const { path, ms } of medians) {
    expect(ms, path).toBeLessThan(readyMaxMs[path] ?? 0);
  }
});
