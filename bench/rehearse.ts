/**
 * A day of operation within minutes: a node with callers of all kinds and a real Prometheus, whose rules are those of
 * `deploy/monitoring` with shorter times. One thing after the other is broken, has to be noticed by its alert, on the dashboard and in the
 * log, and to clear when it is mended.
 *
 *     npm run rehearse            all
 *     npm run rehearse -- disk    those whose name has this
 */
import { makeDataFolder } from "./data-folder.ts";
import { type Drill, drills, drillsOfMany } from "./rehearsal/drills.ts";
import { rehearse } from "./rehearsal/rehearse.ts";
import { startRig } from "./rehearsal/rig.ts";

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
    try {
      const { noticedS, clearedS } = await rehearse(drill, rig);
      const called = alerts.length > 0 ? alerts.join(" and ") : "nobody is called";
      console.log(
        `${name}: ${called} after ${noticedS.toFixed(1)} s, cleared after ${clearedS.toFixed(1)} s`,
      );
    } catch (error) {
      failed += 1;
      console.error(`${name}: ${(error as Error).message}`);
    }
  }
}

await rehearseAll(drills, false);
await rehearseAll(drillsOfMany, true);
process.exitCode = failed === 0 ? 0 : 1;
