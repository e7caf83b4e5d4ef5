import { expect, test } from "vitest";
import { createAccess } from "../../src/access/access.ts";
import { type CallKind, createEntrance } from "../../src/access/entrance.ts";
import { keylessPlan, type Plan } from "../../src/access/plans.ts";
import { errorFromFaults, KibitzError, withCost } from "../../src/errors/errors.ts";
import { createOutcome, localContext } from "../../src/request/context.ts";
import { createMemoryKeyStore } from "../../src/storage/memory/key-store.ts";
import { createMemoryUsageStore } from "../../src/storage/memory/usage-store.ts";

const plan: Plan = {
  ...keylessPlan,
  limits: {
    ...keylessPlan.limits,
    rates: [
      { name: "minute", quota: 60, windowS: 60, unit: "request" },
      { name: "refusals", quota: 10, windowS: 1, unit: "refusal" },
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
    trustedProxies: [],
    stores: { keys: createMemoryKeyStore(), usage: createMemoryUsageStore() },
    log: { warn() {} },
  });
  const entrance = createEntrance(access, isLate);
  const requestFrom = (address: string) => ({ ...localContext(), address });
  const enter = async (address: string, kind: CallKind = "limited", outcome = createOutcome()) =>
    entrance.enter(requestFrom(address), outcome, kind);
  const accountAt = async (address: string) => access.accountOf(requestFrom(address));
  return { access, entrance, enter, accountAt };
}

const wrong = () => errorFromFaults([{ pointer: "/fen", code: "invalid_fen", message: "It is wrong." }]);

/** What an entrance refuses with. */
const refusalOf = async (entering: Promise<unknown>) =>
  (await entering.catch((thrown) => thrown)) as KibitzError;

test("a caller that was refused too often is refused unread, until the window ends", async () => {
  const { enter } = await open();
  for (let refused = 0; refused < 10; refused++) {
    await (await enter("192.0.2.1")).refused(wrong());
  }
  const outcome = createOutcome();
  const refusal = await refusalOf(enter("192.0.2.1", "limited", outcome));
  expect(refusal).toMatchObject({
    code: "rate_limited",
    nextAction: "retry_later",
    quota: "keyless/refusals",
  });
  expect(refusal.retryAfterMs).toBe(1000);
  expect(refusal.message).toContain("10 refusals");
  // Every limited answer tells how the windows of requests stand, and this one costs none.
  expect(outcome.answerHeaders.get("ratelimit")).toMatch(/^"minute";r=60;t=\d+$/);
  await expect.poll(() => refusalOf(enter("192.0.2.1")).then(({ code }) => code)).toBeUndefined();
});

test("a caller that is refused too often takes nothing from others, nor from calls without limits", async () => {
  const { enter, access, accountAt } = await open();
  access.limits.refusals.count(await accountAt("192.0.2.1"), withCost(wrong(), 10));
  await expect.poll(() => refusalOf(enter("192.0.2.1")).then(({ code }) => code)).toBe("rate_limited");
  await expect(enter("192.0.2.2")).resolves.toBeDefined();
  await expect(enter("192.0.2.1", "call")).resolves.toBeDefined();
});

test("an admitted call is refused if its caller's other calls have used up the error quota meanwhile", async () => {
  const { enter, access, accountAt } = await open();
  const entry = await enter("192.0.2.1");
  expect(() => entry.check()).not.toThrow();
  access.limits.refusals.count(await accountAt("192.0.2.1"), withCost(wrong(), 10));
  await expect
    .poll(() => refusalOf((async () => entry.check())()).then((error) => error?.code))
    .toBe("rate_limited");
});

test.each([
  ["one that is wrong", wrong(), 1],
  ["one that was dear to find", withCost(wrong(), 7.9), 7],
  ["one that was very dear", withCost(wrong(), 1000), 20],
  ["one beyond the plan", new KibitzError("upgrade_needed", "Too much."), 1],
  ["one that came too early", new KibitzError("rate_limited", "Later."), 0],
  ["one that came too early and was dear", withCost(new KibitzError("concurrency_limited", "Later."), 5), 4],
  ["a failure of the service", new KibitzError("internal", "Oh."), 0],
  ["an overloaded service", new KibitzError("overloaded", "Busy."), 0],
  ["a caller that is not known", new KibitzError("invalid_api_key", "Who?"), 0],
])("a refusal of %s counts by its cost", async (_, error, counts) => {
  const { access, accountAt } = await open();
  const account = await accountAt("192.0.2.1");
  access.limits.refusals.count(account, error);
  const left = async () =>
    (await access.limits.allWindowsOf(account)).find(({ policy }) => policy.unit === "refusal")?.remaining;
  expect(await left()).toBe(Math.max(0, 10 - counts));
});

test("in open mode no caller is refused for earlier refusals", async () => {
  const { enter, access, accountAt } = await open({ mode: "open" });
  access.limits.refusals.count(await accountAt("192.0.2.1"), withCost(wrong(), 20));
  await Promise.resolve();
  await expect(enter("192.0.2.1")).resolves.toBeDefined();
});

test("while the event loop lags, new work is refused, and calls without limits are not", async () => {
  const { enter } = await open({ mode: "open", isLate: () => true });
  expect(await refusalOf(enter("192.0.2.1"))).toMatchObject({ code: "overloaded", retryAfterMs: 1000 });
  await expect(enter("192.0.2.1", "call")).resolves.toBeDefined();
});

/** Calls that are not analyses, from one address. */
async function openWithCalls(mode: "public" | "open" = "public") {
  const planOf = (id: string, quota: number): Plan => ({
    ...plan,
    id,
    limits: { ...plan.limits, rates: [{ name: "calls", quota, windowS: 60, unit: "call" }] },
  });
  const { access, entrance } = await open({ mode, plans: [planOf("keyless", 3), planOf("free", 5)] });
  const enter = async (kind: CallKind, authorization?: string, outcome = createOutcome()) =>
    entrance.enter({ ...localContext(), address: "192.0.2.1", authorization }, outcome, kind);
  return { access, enter };
}

test("a call beyond the rate of its address is refused with the time to wait, and analyses are admitted", async () => {
  const { enter } = await openWithCalls();
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
  const { enter } = await openWithCalls();
  const outcome = createOutcome();
  await enter("call", undefined, outcome);
  expect([...outcome.answerHeaders]).toEqual([]);
});

test("an MCP message counts as a call, unless it is an analysis", async () => {
  const { enter } = await openWithCalls();
  for (let call = 0; call < 5; call++) {
    (await enter("message")).isLimited();
  }
  for (let call = 0; call < 3; call++) {
    await enter("message");
  }
  await expect(enter("call")).rejects.toMatchObject({ code: "rate_limited" });
});

test("calls are not counted in open mode", async () => {
  const { enter } = await openWithCalls("open");
  for (let call = 0; call < 20; call++) {
    await enter("call");
  }
});

test("a call with a key counts in the rate of its own plan, and its look-up in none", async () => {
  const { access, enter } = await openWithCalls();
  const issued = await access.keys.issue({ name: undefined, plan: "free" });
  const authorization = `Bearer ${"key" in issued && issued.key}`;
  for (let call = 0; call < 5; call++) {
    await enter("call", authorization);
  }
  await expect(enter("call", authorization)).rejects.toMatchObject({ quota: "free/calls" });
  await expect(enter("limited", authorization)).resolves.toBeDefined();
});
