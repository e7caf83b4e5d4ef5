import { describe, expect, test } from "vitest";
import { createKeyOffer, errorFromRefusal, errorQuotaExceeded } from "../../src/access/limit-errors.ts";
import { freePlan, keylessPlan, openPlan, type Plan, type RatePolicy } from "../../src/access/plans.ts";
import { keyed, keyless } from "../contract/limits.ts";

const minute: RatePolicy = { name: "minute", quota: 60, windowS: 60, unit: "request" };
const refusalBy = (policy: RatePolicy) => ({
  code: policy.unit === "request" ? ("rate_limited" as const) : ("quota_exhausted" as const),
  limit: policy.name,
  quota: policy.quota,
  window: { policy, remaining: 0, resetMs: 41_500 },
  retryAfterMs: 41_500,
});
const rateOf = (name: string) =>
  keylessPlan.limits.rates.find((rate) => rate.name === name) ?? expect.fail(name);

describe("a refusal of a caller without a key", () => {
  const account = keyless(keylessPlan);
  const offerKey = createKeyOffer(() => [keylessPlan, freePlan], true);

  test.each([
    [
      rateOf("minute"),
      'An API key of the plan "free" allows 240 requests in 60 s: POST /v1/keys issues one.',
    ],
    [
      rateOf("engine-hour"),
      'An API key of the plan "free" allows 3600 s of engine time in 1 h: POST /v1/keys issues one.',
    ],
  ])("says what a key would change: $name", (policy, words) => {
    const error = errorFromRefusal(refusalBy(policy), { account, offerKey });
    expect(error).toMatchObject({
      message: expect.stringMatching(/Try again in|more is available in/),
      nextAction: "retry_later",
      retryAfterMs: 42_000,
      upgrade: { plan: "free", url: "/v1/keys" },
      reached: { resetMs: 42_000 },
    });
    expect(error.message.endsWith(` ${words}`)).toBe(true);
  });

  test("names the plans that the operator has set meanwhile", () => {
    let plans: readonly Plan[] = [keylessPlan, freePlan];
    const offer = createKeyOffer(() => plans, true);
    plans = [keylessPlan, { ...freePlan, limits: { ...freePlan.limits, concurrent: 7 } }];
    const refusal = { code: "concurrency_limited", limit: "concurrent", quota: 2, retryAfterMs: 3 } as const;
    expect(errorFromRefusal(refusal, { account, offerKey: offer }).message).toContain("7 searches at a time");
  });

  test("says how many searches at a time a key allows", () => {
    const refusal = { code: "concurrency_limited", limit: "concurrent", quota: 2, retryAfterMs: 3 } as const;
    const { message, upgrade } = errorFromRefusal(refusal, { account, offerKey });
    expect(message).toContain('An API key of the plan "free" allows 4 searches at a time: POST /v1/keys');
    expect(upgrade).toEqual({ plan: "free", url: "/v1/keys" });
  });

  test("names the operator if callers cannot create keys, and a plan of the operator", () => {
    const club: Plan = { ...openPlan, id: "club", requiresKey: true };
    const few: Plan = { ...freePlan, limits: { ...freePlan.limits, rates: [minute] } };
    const { message, upgrade } = errorFromRefusal(refusalBy(minute), {
      account,
      offerKey: createKeyOffer(() => [keylessPlan, few, club], true),
    });
    expect(message).toContain(
      'An API key of the plan "club" allows any number of requests: the operator of this service issues keys.',
    );
    expect(upgrade).toEqual({ plan: "club", url: "/price" });
    const { upgrade: closed } = errorFromRefusal(refusalBy(rateOf("minute")), {
      account,
      offerKey: createKeyOffer(() => [keylessPlan, freePlan], false),
    });
    expect(closed).toEqual({ plan: "free", url: "/price" });
  });

  test("offers no key if a key would allow as much, also on a node that enforces a part of the plan", () => {
    const part = { ...rateOf("engine-day"), quota: 1_200_000 };
    const onNode = { ...account, plan: { ...keylessPlan, limits: { ...keylessPlan.limits, rates: [part] } } };
    for (const one of [account, onNode]) {
      const error = errorFromRefusal(refusalBy(part), { account: one, offerKey });
      expect(error.upgrade).toBeUndefined();
      expect(error.message).not.toContain("API key");
    }
    expect(errorQuotaExceeded(rateOf("refusals"), 1000, keylessPlan).upgrade).toBeUndefined();
  });

  test("a caller with a key gets no offer", () => {
    const { upgrade } = errorFromRefusal(refusalBy(minute), {
      account: keyed(freePlan, "key", "a"),
      offerKey,
    });
    expect(upgrade).toBeUndefined();
  });
});
