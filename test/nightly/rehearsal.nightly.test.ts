import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { type Drill, drills, drillsOfMany } from "./rehearsal/drills.ts";
import { rehearse } from "./rehearsal/rehearse.ts";
import { type Rig, startRig } from "./rehearsal/rig.ts";

/**
 * Simulates a day of operation in minutes, with one node, many callers and a real Prometheus with shortened rules.
 * The test causes one fault after another. Each fault must appear as an alert, on the dashboard and in the log.
 */
describeWith(
  "prometheus",
  "native",
  "util-linux",
  "redis",
)("rehearsal", () => {
  describe("of a single node", () => rehearseAll(drills, false));
  describe("of a node with Redis", () => rehearseAll(drillsOfMany, true));
});

function rehearseAll(all: readonly Drill[], shares: boolean): void {
  const folder = useTemporaryFolder();
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(folder, shares);
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  for (const drill of all) {
    const { name, alerts } = drill;
    const called = alerts.length > 0 ? `the alert ${alerts.join(" and ")} fires` : "no alert fires";
    test(`if ${name}, ${called}, and the dashboard and the log show the problem`, async () => {
      const { noticedS, clearedS } = await rehearse(drill, rig);
      console.log(`${name}: noticed after ${noticedS.toFixed(1)} s, cleared after ${clearedS.toFixed(1)} s`);
      expect(noticedS).toBeGreaterThan(0);
    });
  }
}
