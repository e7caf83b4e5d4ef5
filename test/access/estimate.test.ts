import { expect, test } from "vitest";
import { estimateOf } from "../../src/access/over-plan.ts";
import { openPlan, type Plan } from "../../src/access/plans.ts";

const small: Plan = {
  ...openPlan,
  id: "small",
  limits: { ...openPlan.limits, depthMax: 20, multipvMax: 5, movetimeMaxMs: 5000 },
};

test.each([
  [{ depth: 20, multipv: 5, movetimeMs: 5000 }, true],
  [{ depth: 20, multipv: 5, movetimeMs: undefined }, true],
  [{ depth: 21, multipv: 5, movetimeMs: 5000 }, false],
  [{ depth: 20, multipv: 6, movetimeMs: 5000 }, false],
  [{ depth: 20, multipv: 5, movetimeMs: 5001 }, false],
])("%j is allowed by a small plan: %s", (asked, allowed) => {
  expect(estimateOf(asked, [small, openPlan], 1).allowed).toEqual([
    { plan: "small", allowed },
    { plan: "keyless", allowed: true },
  ]);
});

test("an estimate says how long the search is expected to take, in whole milliseconds", () => {
  expect(estimateOf({ depth: 14, multipv: 1, movetimeMs: undefined }, [], 69.7).typicalMs).toBe(70);
});
