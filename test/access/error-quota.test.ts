import { expect, test } from "vitest";
import type { Account } from "../../src/access/account.ts";
import { createErrorQuota } from "../../src/access/error-quota.ts";
import { keylessPlan, openPlan, type Plan, type RatePolicy } from "../../src/access/plans.ts";
import { errorFromViolations, KibitzError, withCost } from "../../src/errors/errors.ts";
import { memoryLimits } from "../contract/limits.ts";

const refusals: RatePolicy = { name: "refusals", quota: 10, windowS: 60, unit: "refusal" };
const plan: Plan = { ...keylessPlan, limits: { ...keylessPlan.limits, rates: [refusals] } };
const account: Account = { subject: "a", address: "a", plan, key: undefined };

const wrong = () => errorFromViolations([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);

test.each([
  ["an invalid request", wrong(), 1],
  ["a request that was expensive to validate", withCost(wrong(), 7.9), 7],
  ["a request that was very expensive to validate", withCost(wrong(), 1000), 20],
  ["a request beyond the plan", new KibitzError("upgrade_needed", "Too much."), 1],
  ["a request that came too early", new KibitzError("rate_limited", "Later."), 0],
  [
    "an expensive request that came too early",
    withCost(new KibitzError("concurrency_limited", "Later."), 5),
    4,
  ],
  ["a request that failed in the service", new KibitzError("internal", "Oh."), 0],
  ["a request to an overloaded service", new KibitzError("overloaded", "Busy."), 0],
  ["a request with an unknown key", new KibitzError("invalid_api_key", "Who?"), 0],
])("refusing %s reduces the error quota by the cost of the request", async (_, error, counts) => {
  const limits = await memoryLimits();
  limits.errorQuota.count(account, error);
  expect(await limits.allWindowsOf(account)).toMatchObject([{ remaining: Math.max(0, 10 - counts) }]);
});

test("refusing a request with a large body reduces the error quota by more than one", async () => {
  const limits = await memoryLimits();
  limits.errorQuota.count(account, wrong(), 32 * 1024);
  expect(await limits.allWindowsOf(account)).toMatchObject([{ remaining: 5 }]);
});

test("open mode has no error quota", async () => {
  const limits = await memoryLimits();
  const caller = { ...account, plan: openPlan };
  limits.errorQuota.count(caller, withCost(wrong(), 20));
  await limits.allWindowsOf(caller);
  expect(() => limits.errorQuota.check(caller)).not.toThrow();
});

test("a caller that has used up two error quotas must wait until both windows have ended", async () => {
  const hour = { ...refusals, name: "hour", windowS: 3600 };
  const use = (endsInMs: number) => ({ used: 10, endsInMs });
  const quota = createErrorQuota(async () => [
    { policy: hour, use: use(3_600_000) },
    { policy: refusals, use: use(60_000) },
  ]);
  quota.add(account, 1);
  await Promise.resolve();
  expect(() => quota.check(account)).toThrow(expect.objectContaining({ quota: "keyless/hour" }));
});
