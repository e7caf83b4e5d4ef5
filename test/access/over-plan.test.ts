import { expect, test } from "vitest";
import {
  batchMaxOf,
  estimateOf,
  excessOf,
  excessOfBatch,
  excessOfReview,
  requestsOfReview,
  upgradeNeeded,
} from "../../src/access/over-plan.ts";
import { builtInPlans, freePlan, keylessPlan, openPlan, type Plan } from "../../src/access/plans.ts";
import { batchItemsMax } from "../../src/analysis/analysis.ts";
import type { SearchLimits } from "../../src/analysis/expected-time.ts";

const asked = { depth: 25, multipv: 1, movetimeMs: undefined, nodes: undefined };
const gold: Plan = { ...freePlan, id: "gold" };
const small: Plan = { ...freePlan, limits: { ...freePlan.limits, depthMax: 20 } };

const upgradeOf = (
  plan: Plan,
  plans: readonly Plan[],
  hasSelfService = false,
  limits: SearchLimits = asked,
) => upgradeNeeded((other) => excessOf(limits, other), { plan, plans, hasSelfService });

test("a plan allows a request that reaches every limit exactly", () => {
  expect(excessOf({ depth: 20, nodes: 2_000_000, multipv: 5, movetimeMs: 5000 }, keylessPlan)).toEqual([]);
  expect(excessOf({ depth: 30, nodes: 1_000_000_000, multipv: 10, movetimeMs: 60_000 }, openPlan)).toEqual(
    [],
  );
});

test("a batch may contain as many requests as the smallest quota of the plan, and at most 200", () => {
  const minute = { name: "minute", quota: 300, windowS: 60, unit: "request" } as const;
  const generous = { ...keylessPlan, limits: { ...keylessPlan.limits, rates: [minute] } };
  const tight = {
    ...keylessPlan,
    limits: { ...keylessPlan.limits, rates: [minute, { ...minute, quota: 7 }] },
  };
  for (const [plan, most] of [
    [keylessPlan, 60],
    [freePlan, batchItemsMax],
    [openPlan, batchItemsMax],
    [generous, batchItemsMax],
    [tight, 7],
  ] as const) {
    expect(batchMaxOf(plan.limits)).toBe(most);
    expect(excessOfBatch(most, plan)).toEqual([]);
    expect(excessOfBatch(most + 1, plan)).toMatchObject([{ violation: { allowed: { maxItems: most } } }]);
  }
});

test("a plan allows a search without a depth limit, and refuses a search with one node more than its node limit", () => {
  const byNodes = { depth: undefined, nodes: 2_000_001, multipv: 1, movetimeMs: undefined };
  expect(excessOf({ ...byNodes, nodes: 2_000_000 }, keylessPlan)).toEqual([]);
  expect(excessOf(byNodes, freePlan)).toEqual([]);
  expect(upgradeOf(keylessPlan, builtInPlans, true, { ...byNodes, nodes: 2_000_000 })).toBeUndefined();
  expect(upgradeOf(keylessPlan, builtInPlans, true, byNodes)).toMatchObject({
    message: "Keyless calls may ask for nodes up to 2000000; this request asks for 2000001.",
    violations: [{ pointer: "/nodes", allowed: { minimum: 1, maximum: 2_000_000 } }],
    upgrade: { plan: "free", url: "/v1/keys" },
  });
});

test("a request that exceeds the plan gets an error that suggests a key if a key can be created, and smaller limits otherwise", () => {
  expect(upgradeOf(keylessPlan, builtInPlans, true)).toMatchObject({
    nextAction: "get_api_key",
    upgrade: { plan: "free", url: "/v1/keys" },
  });
  expect(upgradeOf(keylessPlan, builtInPlans)).toMatchObject({
    nextAction: "reduce_limits",
    upgrade: { plan: "free", url: "/price" },
  });
});

test("a request that exceeds the plan gets an error that names the smallest plan that allows the request, or no plan", () => {
  expect(upgradeOf(keylessPlan, [keylessPlan, small, gold], true)).toMatchObject({
    nextAction: "reduce_limits",
    upgrade: { plan: "gold", url: "/price" },
  });
  expect(upgradeOf(small, [keylessPlan, small], true)).toMatchObject({
    nextAction: "reduce_limits",
    upgrade: undefined,
    message: 'Keys of the plan "free" may ask for depth up to 20; this request asks for 25.',
  });
});

const review = {
  depth: 14,
  nodes: undefined,
  lines: 1,
  plies: 120,
  pointer: "/moves",
  shortened: (plies: number) => ({ maxItems: plies }),
};

test("the plies of a review are limited by the plan and by the smallest quota", () => {
  expect(excessOfReview(review, keylessPlan)).toEqual([]);
  expect(excessOfReview({ ...review, plies: 600, lines: 3, depth: 30 }, openPlan)).toEqual([]);
  expect(excessOfReview({ ...review, plies: 121 }, keylessPlan)).toMatchObject([
    {
      asked: 121,
      allowed: "reviews of up to 120 plies",
      violation: { pointer: "/moves", allowed: { maxItems: 120 } },
    },
  ]);
  const rates = [{ name: "minute", quota: 6, windowS: 60, unit: "request" }] as const;
  const poor: Plan = { ...freePlan, limits: { ...freePlan.limits, rates } };
  expect(excessOfReview({ ...review, plies: 59 }, poor)).toEqual([]);
  expect(excessOfReview({ ...review, plies: 60 }, poor)).toMatchObject([
    { allowed: "reviews of up to 59 plies" },
  ]);
  expect(requestsOfReview(60)).toBe(6);
});

test("a review is refused if its number of lines or its depth exceeds the plan", () => {
  const few: Plan = { ...freePlan, limits: { ...freePlan.limits, multipvMax: 2, depthMax: 20 } };
  expect(excessOfReview({ ...review, lines: 3, depth: 21 }, few)).toMatchObject([
    { violation: { pointer: "/depth", allowed: { maximum: 20 } } },
    { violation: { pointer: "/lines", allowed: { minimum: 1, maximum: 2 } } },
  ]);
});

test("a review counts as one request for every ten positions, rounded up, and as at least one request", () => {
  expect([0, 1, 10, 11, 81].map(requestsOfReview)).toEqual([1, 1, 1, 2, 9]);
});

const bounded: Plan = {
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
])("the limits %j are allowed by a small plan: %s", (asked, allowed) => {
  expect(estimateOf(asked, [bounded, openPlan], 1).allowed).toEqual([
    { plan: "small", allowed },
    { plan: "keyless", allowed: true },
  ]);
});

test("an estimate contains the expected time of the search in whole milliseconds", () => {
  expect(estimateOf(most, [], 69.7).typicalMs).toBe(70);
});
