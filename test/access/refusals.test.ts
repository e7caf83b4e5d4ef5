import { expect, test } from "vitest";
import { createAccess } from "../../src/access/access.ts";
import { type CallKind, createEntrance } from "../../src/access/entrance.ts";
import type { Plan } from "../../src/access/plans.ts";
import { errorFromFaults, KibitzError, withCost } from "../../src/errors/errors.ts";
import { createOutcome, localContext } from "../../src/request/context.ts";
import { createMemoryKeyStore } from "../../src/storage/memory/key-store.ts";
import { createMemoryUsageStore } from "../../src/storage/memory/usage-store.ts";

const plan: Plan = {
  id: "keyless",
  requiresKey: false,
  limits: {
    depthMax: 20,
    nodesMax: 2_000_000,
    multipvMax: 5,
    movetimeMaxMs: 5000,
    reviewPliesMax: 120,
    concurrent: 2,
    rates: [
      { name: "minute", quota: 60, windowS: 60, unit: "request" },
      { name: "refusals", quota: 10, windowS: 1, unit: "refusal" },
    ],
  },
};

async function open(mode: "public" | "open" = "public", isLate = () => false) {
  const access = await createAccess({
    mode,
    plans: [plan],
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
  return { access, enter, accountAt };
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
  const { enter, access, accountAt } = await open("open");
  access.limits.refusals.count(await accountAt("192.0.2.1"), withCost(wrong(), 20));
  await Promise.resolve();
  await expect(enter("192.0.2.1")).resolves.toBeDefined();
});

test("while the event loop lags, new work is refused, and calls without limits are not", async () => {
  const { enter } = await open("open", () => true);
  expect(await refusalOf(enter("192.0.2.1"))).toMatchObject({ code: "overloaded", retryAfterMs: 1000 });
  await expect(enter("192.0.2.1", "call")).resolves.toBeDefined();
});
