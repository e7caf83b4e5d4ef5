/**
 * A day of operation within minutes: a node with callers of all kinds and a real Prometheus, whose rules are those of
 * `deploy/monitoring` with shorter times. One thing after the other is broken, has to be noticed by its alert, on the dashboard and in the
 * log, and to clear when it is mended.
 *
 *     npm run rehearse            all
 *     npm run rehearse -- disk    those whose name has this
 */
import { recordResult } from "../test/support/lane.ts";
import { makeDataFolder } from "./data-folder.ts";
import { type Drill, drills, drillsOfMany } from "./rehearsal/drills.ts";
import { type Rehearsed, rehearse } from "./rehearsal/rehearse.ts";
import { type Rig, startRig } from "./rehearsal/rig.ts";

const wanted = process.argv[2] ?? "";
let failed = 0;

async function rehearseAll(all: readonly Drill[], shares: boolean): Promise<void> {
  const some = all.filter(({ name }) => name.includes(wanted));
  if (some.length === 0) {
    return;
  }
  await using rig = await startRig(makeDataFolder(), shares);
  for (const drill of some) {
    const { name, alerts } = drill;
    const startedAt = performance.now();
    const record = (state: "passed" | "failed") =>
      recordResult({
        file: "bench/rehearse.ts",
        name,
        state,
        ms: Math.round(performance.now() - startedAt),
      });
    try {
      const { noticedS, clearedS } = await rehearseInCalm(drill, rig);
      const called = alerts.length > 0 ? alerts.join(" and ") : "nobody is called";
      console.log(
        `${name}: ${called} after ${noticedS.toFixed(1)} s, cleared after ${clearedS.toFixed(1)} s`,
      );
      record("passed");
    } catch (error) {
      record("failed");
      failed += 1;
      console.error(`${name}: ${(error as Error).message}`);
    }
  }
}

/**
 * Where nobody may be called, somebody may be all the same, for what else the machine does. What the drill itself is called for, it
 * is called for each time.
 */
async function rehearseInCalm(drill: Drill, rig: Rig): Promise<Rehearsed> {
  const triesMax = drill.alerts.length > 0 ? 1 : 3;
  for (let tries = 1; ; tries++) {
    try {
      return await rehearse(drill, rig);
    } catch (error) {
      if (tries === triesMax) {
        throw error;
      }
      console.log(`${drill.name}: once more, as ${(error as Error).message}`);
    }
  }
}

await rehearseAll(drills, false);
await rehearseAll(drillsOfMany, true);
process.exitCode = failed === 0 ? 0 : 1;
