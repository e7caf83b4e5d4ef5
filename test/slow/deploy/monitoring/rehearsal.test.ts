import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { drills } from "../../../../bench/rehearsal/drills.ts";
import { rehearse } from "../../../../bench/rehearsal/rehearse.ts";
import { type Rig, startRig } from "../../../../bench/rehearsal/rig.ts";
import { describeWith } from "../../../support/needs.ts";

/** Those that take seconds; `npm run rehearse` has all. */
const short = ["the clock jumps", "the disk is full", "engines are killed"];
const drillMaxMs = 200_000;

describeWith(
  "prometheus",
  "native",
  "util-linux",
)("a Prometheus with the rules, and a node with callers,", () => {
  let folder: string;
  let rig: Rig;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "kibitz-test-"));
    rig = await startRig(folder);
  });
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(drills.filter(({ name }) => short.includes(name)))(
    "tell when $name, show it, and clear",
    async (drill) => {
      const { noticedS, clearedS } = await rehearse(drill, rig);
      expect([noticedS, clearedS].every((seconds) => seconds > 0)).toBe(true);
    },
    drillMaxMs,
  );

  test("have drills for what is rehearsed here", () => {
    expect(drills.filter(({ name }) => short.includes(name))).toHaveLength(short.length);
  });
});
