import { describe, expect, test } from "vitest";
import { createAccess } from "../../src/access/access.ts";
import { createCallRates } from "../../src/access/call-rates.ts";
import { type CallKind, createEntrance } from "../../src/access/entrance.ts";
import { freePlan, keylessPlan, openPlan, type Plan } from "../../src/access/plans.ts";
import { createOutcome, localContext } from "../../src/request/context.ts";
import { createMemoryKeyStore } from "../../src/storage/memory/key-store.ts";
import { createMemoryUsageStore } from "../../src/storage/memory/usage-store.ts";

const planOf = (id: string, quota: number): Plan => ({
  ...keylessPlan,
  id,
  limits: { ...keylessPlan.limits, rates: [{ name: "calls", quota, windowS: 60, unit: "call" }] },
});

test("the rate of calls is one for all plans of an address, each with its own quota", () => {
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

test("the rate of calls is part of every built-in plan, and of none in open mode", () => {
  const rate = { name: "calls", quota: 1200, windowS: 60, unit: "call" };
  expect(keylessPlan.limits.rates).toContainEqual(rate);
  expect(freePlan.limits.rates).toContainEqual(rate);
  expect(openPlan.limits.rates).toEqual([]);
});

async function open(mode: "public" | "open" = "public") {
  const access = await createAccess({
    mode,
    plans: [planOf("keyless", 3), planOf("free", 5)],
    keysPerDay: 5,
    keyExpiryDays: 90,
    selfServiceKeysMax: 100,
    pepper: undefined,
    trustedProxies: [],
    stores: { keys: createMemoryKeyStore(), usage: createMemoryUsageStore() },
    log: { warn() {} },
  });
  const entrance = createEntrance(access, () => false);
  const enter = async (kind: CallKind, authorization?: string, outcome = createOutcome()) =>
    entrance.enter({ ...localContext(), address: "192.0.2.1", authorization }, outcome, kind);
  return { access, enter };
}

describe("the entrance", () => {
  test("a call beyond the rate of its address is refused with the time to wait, and analyses are admitted", async () => {
    const { enter } = await open();
    for (let call = 0; call < 3; call++) {
      await enter("call");
    }
    const outcome = createOutcome();
    await expect(enter("call", undefined, outcome)).rejects.toMatchObject({
      code: "rate_limited",
      quota: "keyless/calls",
      retryAfterMs: 60_000,
      message: expect.stringContaining("3 calls"),
    });
    expect(outcome.answerHeaders.get("ratelimit-policy")).toBe('"calls";q=3;w=60');
    expect(outcome.answerHeaders.get("ratelimit")).toBe('"calls";r=0;t=60');
    await expect(enter("limited")).resolves.toBeDefined();
    await expect(enter("message")).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("a call within the rate gets no header of it", async () => {
    const { enter } = await open();
    const outcome = createOutcome();
    await enter("call", undefined, outcome);
    expect([...outcome.answerHeaders]).toEqual([]);
  });

  test("an MCP message counts as a call, unless it is an analysis", async () => {
    const { enter } = await open();
    for (let call = 0; call < 5; call++) {
      (await enter("message")).isLimited();
    }
    for (let call = 0; call < 3; call++) {
      await enter("message");
    }
    await expect(enter("call")).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("calls are not counted in open mode", async () => {
    const { enter } = await open("open");
    for (let call = 0; call < 20; call++) {
      await enter("call");
    }
  });

  test("a call with a key counts in the rate of its own plan, and its look-up in none", async () => {
    const { access, enter } = await open();
    const issued = await access.keys.issue({ name: undefined, plan: "free" });
    const authorization = `Bearer ${"key" in issued && issued.key}`;
    for (let call = 0; call < 5; call++) {
      await enter("call", authorization);
    }
    await expect(enter("call", authorization)).rejects.toMatchObject({ quota: "free/calls" });
    await expect(enter("limited", authorization)).resolves.toBeDefined();
  });
});
