import { expect, test } from "vitest";
import { createCallRates } from "../../src/access/call-rates.ts";
import { freePlan, keylessPlan, openPlan, type Plan } from "../../src/access/plans.ts";

const planOf = (id: string, quota: number): Plan => ({
  ...keylessPlan,
  id,
  limits: { ...keylessPlan.limits, rates: [{ name: "calls", quota, windowS: 60, unit: "call" }] },
});

test("all calls from one address have one common counter, and each plan compares this counter with its own quota", () => {
  const rates = createCallRates();
  const [small, large] = [planOf("small", 2), planOf("large", 4)];
  expect(rates.take("192.0.2.1", small)).toBeUndefined();
  expect(rates.take("192.0.2.1", large)).toBeUndefined();
  expect(rates.take("192.0.2.1", small)).toMatchObject({ policy: { quota: 2 }, remaining: 0 });
  expect(rates.take("192.0.2.2", small)).toBeUndefined();
  expect(rates.take("192.0.2.1", large)).toBeUndefined();
  expect(rates.take("192.0.2.1", large)).toBeUndefined();
  expect(rates.take("192.0.2.1", large)).toMatchObject({ policy: { quota: 4 } });
  rates.giveBack("192.0.2.1", large);
  expect(rates.take("192.0.2.1", large)).toBeUndefined();
});

test("every built-in plan has a call rate, and open mode has none", () => {
  const rate = { name: "calls", quota: 1200, windowS: 60, unit: "call" };
  expect(keylessPlan.limits.rates).toContainEqual(rate);
  expect(freePlan.limits.rates).toContainEqual(rate);
  expect(openPlan.limits.rates).toEqual([]);
});
