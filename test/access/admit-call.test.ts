import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { createAccess } from "../../src/access/access.ts";
import { type CallKind, createAdmitCall } from "../../src/access/admit-call.ts";
import { createClientAddress } from "../../src/access/client-address.ts";
import { keylessPlan, type Plan } from "../../src/access/plans.ts";
import { errorFromViolations, type KibitzError, withCost } from "../../src/errors/errors.ts";
import { silentLog } from "../../src/log/log.ts";
import { closeCall, createOutcome, localContext, type RequestOutcome } from "../../src/request/context.ts";
import { openOwnStores } from "../support/own-stores.ts";

const plan: Plan = {
  ...keylessPlan,
  limits: {
    ...keylessPlan.limits,
    rates: [
      { name: "minute", quota: 60, windowS: 60, unit: "request" },
      { name: "refusals", quota: 10, windowS: 60, unit: "refusal" },
    ],
  },
};

interface Opened {
  readonly mode?: "public" | "open";
  readonly plans?: readonly Plan[];
  readonly isLate?: () => boolean;
}

async function open({ mode = "public", plans = [plan], isLate = () => false }: Opened = {}) {
  const access = await createAccess({
    mode,
    plans,
    keysPerDay: 0,
    keyExpiryDays: 90,
    selfServiceKeysMax: 100,
    pepper: undefined,
    addressOf: createClientAddress([], silentLog),
    stores: openOwnStores(),
    log: { warn() {} },
  });
  const admitCall = createAdmitCall(access, isLate);
  const requestFrom = (address: string) => ({ ...localContext(), address });
  const admit = async (address: string, kind: CallKind = "limited", outcome = createOutcome()) =>
    admitCall(requestFrom(address), outcome, kind);
  const accountAt = async (address: string) => access.accountOf(requestFrom(address));
  return { access, admitCall, admit, accountAt };
}

const wrong = () => errorFromViolations([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);

const refusalOf = async (admitting: Promise<unknown>) =>
  (await admitting.catch((thrown) => thrown)) as KibitzError;

test("a caller that has used up its error quota is refused until the window of the quota ends", async () => {
  let now = 0;
  using _ = vi.spyOn(performance, "now").mockImplementation(() => now);
  const { admit } = await open();
  for (let refused = 0; refused < 10; refused++) {
    await (await admit("192.0.2.1")).refused(wrong());
  }
  await setImmediate();
  const outcome = createOutcome();
  const refusal = await refusalOf(admit("192.0.2.1", "limited", outcome));
  expect(refusal).toMatchObject({
    code: "rate_limited",
    nextAction: "retry_later",
    quota: "keyless/refusals",
    retryAfterMs: 60_000,
    message: expect.stringContaining("10 refusals"),
  });
  // A refusal costs no request.
  expect(outcome.answerHeaders.get("ratelimit")).toBe('"refusals";r=0;t=60, "minute";r=60;t=60');
  now = 59_999;
  expect(await refusalOf(admit("192.0.2.1"))).toMatchObject({ retryAfterMs: 1000 });
  now = 60_000;
  await expect(admit("192.0.2.1")).resolves.toBeDefined();
});

test("a caller that has used up its error quota is told to wait for a window of requests that ends later", async () => {
  let now = 0;
  using _ = vi.spyOn(performance, "now").mockImplementation(() => now);
  const { admit, access, accountAt } = await open();
  const account = await accountAt("192.0.2.1");
  access.limits.errorQuota.count(account, withCost(wrong(), 10));
  await setImmediate();
  now = 20_000;
  await access.limits.enter(account, { expectedMs: 1, longestMs: 1 }, { requests: 60 });
  const outcome = createOutcome();
  expect(await refusalOf(admit("192.0.2.1", "limited", outcome))).toMatchObject({
    code: "rate_limited",
    quota: "keyless/minute",
    retryAfterMs: 60_000,
  });
  expect(outcome.answerHeaders.get("ratelimit")).toBe('"minute";r=0;t=60');
});

test("if one caller has used up the error quota, other callers and calls without a rate limit are still admitted", async () => {
  const { admit, access, accountAt } = await open();
  access.limits.errorQuota.count(await accountAt("192.0.2.1"), withCost(wrong(), 10));
  await setImmediate();
  expect(await refusalOf(admit("192.0.2.1"))).toMatchObject({ code: "rate_limited" });
  await expect(admit("192.0.2.2")).resolves.toBeDefined();
  await expect(admit("192.0.2.1", "call")).resolves.toBeDefined();
});

test("an admitted call is refused later if other calls from the same caller use up the error quota", async () => {
  const { admit, access, accountAt } = await open();
  const admitted = await admit("192.0.2.1");
  expect(() => admitted.check()).not.toThrow();
  access.limits.errorQuota.count(await accountAt("192.0.2.1"), withCost(wrong(), 10));
  await setImmediate();
  expect(() => admitted.check()).toThrow("10 refusals");
});

test("while the event loop is slow, analyses are refused, and calls without a rate limit are admitted", async () => {
  const { admit } = await open({ mode: "open", isLate: () => true });
  expect(await refusalOf(admit("192.0.2.1"))).toMatchObject({ code: "overloaded", retryAfterMs: 1000 });
  await expect(admit("192.0.2.1", "call")).resolves.toBeDefined();
});

test("a batch or review of a caller that has used up a window is refused before its body is read", async () => {
  const { admit, access, accountAt } = await open();
  const time = { expectedMs: 1, longestMs: 1 };
  await access.limits.enter(await accountAt("192.0.2.1"), time, { requests: 60 });
  expect(await refusalOf(admit("192.0.2.1", "long"))).toMatchObject({
    code: "rate_limited",
    quota: "keyless/minute",
  });
  await expect(admit("192.0.2.2", "long")).resolves.toBeDefined();
});

async function openWithCalls(mode: "public" | "open" = "public") {
  const planOf = (id: string, quota: number): Plan => ({
    ...plan,
    id,
    limits: { ...plan.limits, rates: [{ name: "calls", quota, windowS: 60, unit: "call" }] },
  });
  const { access, admitCall } = await open({ mode, plans: [planOf("keyless", 3), planOf("free", 5)] });
  const admit = async (kind: CallKind, authorization?: string, outcome = createOutcome()) =>
    admitCall({ ...localContext(), address: "192.0.2.1", authorization }, outcome, kind);
  return { access, admit };
}

test("if the calls from an address exceed the call rate, further calls are refused, but analyses are still admitted", async () => {
  const { admit } = await openWithCalls();
  for (let call = 0; call < 3; call++) {
    await admit("call");
  }
  const outcome = createOutcome();
  await expect(admit("call", undefined, outcome)).rejects.toMatchObject({
    code: "rate_limited",
    quota: "keyless/calls",
    retryAfterMs: 60_000,
    message: expect.stringContaining("3 calls"),
  });
  expect(outcome.answerHeaders.get("ratelimit-policy")).toBe('"calls";q=3;w=60');
  expect(outcome.answerHeaders.get("ratelimit")).toBe('"calls";r=0;t=60');
  await expect(admit("limited")).resolves.toBeDefined();
  await expect(admit("message")).rejects.toMatchObject({ code: "rate_limited" });
});

test("the response to a call has no rate limit header if the call rate is not exceeded", async () => {
  const { admit } = await openWithCalls();
  const outcome = createOutcome();
  await admit("call", undefined, outcome);
  expect([...outcome.answerHeaders]).toEqual([]);
});

test("each MCP message counts towards the call rate, unless the message asks for an analysis", async () => {
  const { admit } = await openWithCalls();
  for (let call = 0; call < 5; call++) {
    (await admit("message")).countAsAnalysis();
  }
  for (let call = 0; call < 3; call++) {
    await admit("message");
  }
  await expect(admit("call")).rejects.toMatchObject({ code: "rate_limited" });
});

test("open mode has no call rate", async () => {
  const { admit } = await openWithCalls("open");
  for (let call = 0; call < 20; call++) {
    await admit("call");
  }
});

test("a call with a key counts only towards the call rate of the key's plan", async () => {
  const { access, admit } = await openWithCalls();
  const issued = await access.keys.issue({ name: undefined, plan: "free" });
  const authorization = `Bearer ${"key" in issued && issued.key}`;
  for (let call = 0; call < 5; call++) {
    await admit("call", authorization);
  }
  await expect(admit("call", authorization)).rejects.toMatchObject({ quota: "free/calls" });
  await expect(admit("limited", authorization)).resolves.toBeDefined();
});

describe("a call that its client abandons", () => {
  const abandon = async (outcome: RequestOutcome) => {
    const { admit } = await open();
    for (let call = 0; call < 10; call++) {
      const own = { ...outcome, answerHeaders: new Map(), releases: [] };
      await admit("192.0.2.1", "limited", own);
      closeCall(own);
    }
    await setImmediate();
    return (await refusalOf(admit("192.0.2.1"))).code;
  };

  test.each(["canceled", "deadline_exceeded"])("costs as much as a refusal: %s", async (code) => {
    expect(await abandon({ ...createOutcome(), code, workCost: 1 })).toBe("rate_limited");
  });

  test("costs nothing if its body did not arrive", async () => {
    expect(await abandon({ ...createOutcome(), code: "canceled" })).toBeUndefined();
  });

  test("costs no error quota if a rate limit has counted the request", async () => {
    expect(
      await abandon({ ...createOutcome(), code: "canceled", workCost: 1, isCounted: true }),
    ).toBeUndefined();
  });

  test.each(["internal", "overloaded", "shutting_down", "store_unavailable", "engine_timeout"])(
    "is different from a call that the service fails or refuses, which costs nothing: %s",
    async (code) => {
      expect(await abandon({ ...createOutcome(), code, workCost: 1 })).toBeUndefined();
    },
  );
});
