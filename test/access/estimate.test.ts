import { expect, test } from "vitest";
import { estimateOf } from "../../src/access/over-plan.ts";
import { openPlan, type Plan } from "../../src/access/plans.ts";
import type { SearchLimits } from "../../src/analysis/expected-time.ts";

const small: Plan = {
  ...openPlan,
  id: "small",
  limits: { ...openPlan.limits, depthMax: 20, nodesMax: 1000, multipvMax: 5, movetimeMaxMs: 5000 },
};

const most: SearchLimits = { depth: 20, nodes: 1000, multipv: 5, movetimeMs: 5000 };

test.each<[SearchLimits, boolean]>([
  [most, true],
  [{ ...most, movetimeMs: undefined }, true],
  [{ ...most, nodes: undefined }, true],
  [{ ...most, depth: undefined }, true],
  [{ ...most, depth: 21 }, false],
  [{ ...most, nodes: 1001 }, false],
  [{ ...most, depth: undefined, nodes: 1001 }, false],
  [{ ...most, multipv: 6 }, false],
  [{ ...most, movetimeMs: 5001 }, false],
])("%j is allowed by a small plan: %s", (asked, allowed) => {
  expect(estimateOf(asked, [small, openPlan], 1).allowed).toEqual([
    { plan: "small", allowed },
    { plan: "keyless", allowed: true },
  ]);
});

test("an estimate says how long the search is expected to take, in whole milliseconds", () => {
  expect(estimateOf(most, [], 69.7).typicalMs).toBe(70);
});
