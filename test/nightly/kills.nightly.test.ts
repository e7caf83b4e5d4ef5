import { expect } from "vitest";
import { killEngines } from "../slow/faults/kill-engines.ts";
import { testWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const kills = 200;
/** The median time that an engine needs to start must be shorter than this time, in milliseconds. */
const readyMaxMs: Readonly<Record<string, number>> = { native: 500, wasm: 1500 };

const dataDir = useTemporaryFolder();

testWith("native")(
  "200 random kills and suspensions of engines lead to refusals for at most 1 request in 100, and new engines start quickly",
  async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const { answered, overloaded, lost, left, exitCode, readyMs } = await killEngines({
      kills,
      everyMs: 150,
      seed,
      dataDir,
    });
    const medians = [...readyMs].map(([path, all]) => ({ path, ms: all[Math.floor(all.length / 2)] }));
    const ready = medians.map(({ path, ms }) => `${path} ${ms?.toFixed(0)} ms`).join(", ");
    console.log(
      `measured: kills, seed ${seed}: ${answered} answered, ${overloaded} refused; median until another engine is ready: ${ready}`,
    );
    expect(lost).toEqual([]);
    expect(answered).toBeGreaterThan(kills);
    expect(overloaded).toBeLessThanOrEqual(answered / 100);
    expect(left).toEqual([]);
    expect(exitCode).toBe(0);
    expect([...readyMs.keys()].toSorted()).toEqual(Object.keys(readyMaxMs));
    for (const { path, ms } of medians) {
      expect(ms, path).toBeLessThan(readyMaxMs[path] ?? 0);
    }
  },
);
