import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Account } from "../../src/access/account.ts";
import {
  createLimits,
  type EnteredRequest,
  type LimitDecision,
  type Limits,
} from "../../src/access/limits.ts";
import {
  freePlan,
  keylessPlan,
  openPlan,
  type Plan,
  type RatePolicy,
  windowLengths,
} from "../../src/access/plans.ts";
import type { SearchTime } from "../../src/analysis/expected-time.ts";
import { createMemoryLimitStore } from "../../src/storage/memory/limit-store.ts";
import type { KeyRecord, UsageStore } from "../../src/storage/ports.ts";

export function planWith(rates: readonly RatePolicy[], concurrent?: number): Plan {
  return { ...freePlan, limits: { ...freePlan.limits, concurrent, rates } };
}

export const keyless = (plan: Plan, address = "a"): Account => ({
  subject: address,
  address,
  plan,
  key: undefined,
});
export const keyed = (plan: Plan, id: string, address: string): Account => ({
  subject: id,
  address,
  plan,
  key: { id } as KeyRecord,
});

/**
 * Creates the limit counters of one process.
 * @param usage the stored engine time of an earlier process
 * @param plan the plan of the callers, with the window of the engine time
 */
export async function memoryLimits(usage?: UsageStore, plan: Plan = planWith([engine])): Promise<Limits> {
  const store = createMemoryLimitStore(usage);
  await store.restore(windowLengths([plan]));
  return createLimits(store);
}

export async function run(
  limits: Limits,
  account: Account,
  engineMs = 0,
  answered = true,
): Promise<LimitDecision> {
  const entry = await limits.enter(account, timeOf(1000));
  leave(entry, engineMs, answered);
  return entry;
}

export function leave(entry: LimitDecision | undefined, engineMs = 0, answered = true): void {
  if (entry?.kind === "entered") {
    entry.entered.leave(engineMs, answered);
  }
}

export const timeOf = (expectedMs: number, longestMs = expectedMs): SearchTime => ({ expectedMs, longestMs });

export const remainingOf = async (limits: Limits, account: Account) =>
  (await limits.allWindowsOf(account)).map(({ remaining }) => remaining);

export const minute: RatePolicy = { name: "minute", quota: 2, windowS: 60, unit: "request" };
export const hour: RatePolicy = { name: "hour", quota: 3, windowS: 3600, unit: "request" };
export const engine: RatePolicy = { name: "engine", quota: 1000, windowS: 86_400, unit: "engine_ms" };

export function testLimits(name: string, create: () => Promise<Limits>): void {
  const limitsOf = create;
  describe(`limits counted in ${name}: requests`, () => {
    test(`${name} counts the requests of each client in windows that begin with the first request`, async () => {
      const plan = planWith([minute]);
      const limits = await limitsOf();
      await run(limits, keyless(plan, "a"));
      await run(limits, keyless(plan, "a"));
      expect(await run(limits, keyless(plan, "a"))).toMatchObject({
        kind: "refused",
        refusal: { code: "rate_limited", limit: "minute", quota: 2 },
      });
      expect(await run(limits, keyless(plan, "b"))).toMatchObject({ kind: "entered" });
      expect(await run(limits, keyed(plan, "key", "a"))).toMatchObject({ kind: "entered" });
    });

    test(`${name} reports a request when its place is taken, so that the place is not lost with a lost answer`, async () => {
      const limits = await limitsOf();
      const account = keyless(planWith([], 1));
      const known: EnteredRequest[] = [];
      const onEntered = (entered: EnteredRequest) => void known.push(entered);
      await limits.enter(account, timeOf(1000), { onEntered });
      await limits.enter(account, timeOf(1000), { onEntered });
      expect(known).toHaveLength(1);
      known[0]?.leave(0, false);
      expect(await run(limits, account)).toMatchObject({ kind: "entered" });
    });

    test(`a refused request is not counted in any window in ${name}`, async () => {
      const plan = planWith([minute, hour]);
      const limits = await limitsOf();
      const account = keyless(plan);
      for (let count = 0; count < 10; count++) {
        await run(limits, account);
      }
      expect(await remainingOf(limits, account)).toEqual([0, 1]);
    });

    test(`a refusal in ${name} names the longest wait if several windows are used up`, async () => {
      const plan = planWith([hour, { ...minute, quota: 3 }]);
      const limits = await limitsOf();
      for (let count = 0; count < 3; count++) {
        await run(limits, keyless(plan));
      }
      const entry = await run(limits, keyless(plan));
      expect(entry).toMatchObject({ refusal: { limit: "hour" } });
      expect(entry.kind === "refused" && entry.refusal.retryAfterMs).toBeGreaterThan(3_590_000);
    });

    test(`${name} refunds a failed request only if the request used no engine time`, async () => {
      const plan = planWith([hour]);
      const limits = await limitsOf();
      const account = keyless(plan);
      await run(limits, account, 0, false);
      expect(await remainingOf(limits, account)).toEqual([3]);
      await run(limits, account, 5, false);
      await run(limits, account, 0, true);
      expect(await remainingOf(limits, account)).toEqual([1]);
    });

    test(`requests under a plan without limits are not counted in ${name}`, async () => {
      const limits = await limitsOf();
      for (let count = 0; count < 1000; count++) {
        expect((await run(limits, keyless(openPlan), 1e9)).kind).toBe("entered");
      }
      expect(await limits.windowsOf(keyless(openPlan))).toEqual([]);
    });
  });

  describe(`limits counted in ${name}: searches at a time`, () => {
    const plan = planWith([], 2);

    test(`each client in ${name} has its own limit of concurrent searches, and each search is released once`, async () => {
      const limits = await limitsOf();
      const enter = () => limits.enter(keyless(plan), timeOf(700));
      const [first] = [await enter(), await enter()];
      expect(await enter()).toMatchObject({ refusal: { code: "concurrency_limited", quota: 2 } });
      expect((await limits.enter(keyless(plan, "b"), timeOf(700))).kind).toBe("entered");
      leave(first);
      leave(first);
      expect([(await enter()).kind, (await enter()).kind]).toEqual(["entered", "refused"]);
    });

    test(`${name} refuses too many concurrent searches with a retry time, which is the expected end of a running search`, async () => {
      const limits = await limitsOf();
      await limits.enter(keyless(plan), timeOf(50_000, 600_000));
      await limits.enter(keyless(plan), timeOf(10_000, 600_000));
      const entry = await limits.enter(keyless(plan), timeOf(1));
      const waitMs = entry.kind === "refused" ? entry.refusal.retryAfterMs : Number.NaN;
      expect(waitMs).toBeGreaterThan(2500);
      expect(waitMs).toBeLessThanOrEqual(20_000);
    });

    test(`${name} does not count the concurrent searches under a plan without a limit of concurrent searches`, async () => {
      const counted = planWith([{ ...hour, quota: 10 }], 2);
      const limits = await limitsOf();
      const enter = (concurrent: number | undefined) => {
        const { limits: bounds } = counted;
        return limits.enter(keyless({ ...counted, limits: { ...bounds, concurrent } }), timeOf(700));
      };
      const kinds = [];
      for (const concurrent of [undefined, 2, undefined, undefined, 2, undefined, 2]) {
        kinds.push((await enter(concurrent)).kind);
      }
      expect(kinds.map((kind) => kind === "entered")).toEqual([true, true, true, true, true, true, false]);
    });

    test(`the end of a search in ${name} starts the search of the next waiting client that has not disconnected`, async () => {
      const limits = await limitsOf();
      const enter = (waiting?: AbortSignal) => limits.enter(keyless(plan), timeOf(700), { waiting });
      const [first] = [await enter(), await enter()];
      const leaving = new AbortController();
      const left = enter(leaving.signal);
      leaving.abort(new Error("left"));
      await expect(left).rejects.toThrow("left");
      const waiting = enter(new AbortController().signal);
      leave(first);
      expect((await waiting).kind).toBe("entered");
    });
  });

  describe(`limits counted in ${name}: requests that wait`, () => {
    const plan = planWith([], 1);
    const { signal } = new AbortController();

    test(`requests that wait in ${name} are admitted in the order of their arrival, before all later requests`, async () => {
      const limits = await limitsOf();
      const admitted: string[] = [];
      const enter = async (who: string, waiting: AbortSignal | undefined = signal) => {
        const entry = await limits.enter(keyless(plan), timeOf(700), { waiting });
        admitted.push(who);
        return entry;
      };
      const first = await enter("first");
      const waits = [];
      for (const who of ["second", "third", "fourth"]) {
        waits.push(enter(who));
        // The nodes send their requests to Redis independently, so wait until this request has arrived.
        await sleep(50);
      }
      leave(first);
      // A caller that asks again before the next request is admitted, as a batch does after each item.
      expect(await limits.enter(keyless(plan), timeOf(700))).toMatchObject({
        refusal: { code: "concurrency_limited" },
      });
      waits.push(enter("fifth"));
      await Promise.all(waits.map(async (entry) => leave(await entry)));
      expect(admitted).toEqual(["first", "second", "third", "fourth", "fifth"]);
    });

    test(`if a request that waits in ${name} disconnects, the next request takes its turn`, async () => {
      const limits = await limitsOf();
      const enter = (waiting: AbortSignal) => limits.enter(keyless(plan), timeOf(700), { waiting });
      const first = await enter(signal);
      const leaving = new AbortController();
      const left = enter(leaving.signal);
      const next = enter(signal);
      leave(first);
      leaving.abort(new Error("left"));
      // The first waiting request may have been admitted before it left.
      leave(await left.catch(() => undefined));
      expect((await next).kind).toBe("entered");
    });
  });

  describe(`limits counted in ${name}: engine time`, () => {
    const plan = planWith([engine]);

    test(`engine time is counted in ${name} after a search, so a running search may exceed the quota`, async () => {
      const limits = await limitsOf();
      const account = keyed(plan, "key", "a");
      await run(limits, account, 400);
      expect(await remainingOf(limits, account)).toEqual([600]);
      await run(limits, account, 700);
      expect(await run(limits, account)).toMatchObject({
        refusal: { code: "quota_exhausted", limit: "engine", quota: 1000 },
      });
      expect(await remainingOf(limits, account)).toEqual([0]);
    });

    test(`a client without a key gets 300 s of engine time in an hour in ${name}, and a key of the same address gets more`, async () => {
      const limits = await limitsOf();
      const account = keyless(keylessPlan);
      await run(limits, account, 299_999);
      expect(await run(limits, account, 1)).toMatchObject({ kind: "entered" });
      const refused = await run(limits, account);
      expect(refused).toMatchObject({
        kind: "refused",
        refusal: { code: "quota_exhausted", limit: "engine-hour", quota: 300_000 },
        windows: [
          { policy: { name: "minute" } },
          { policy: { name: "engine-hour" }, remaining: 0 },
          { policy: { name: "engine-day" }, remaining: 3_300_000 },
        ],
      });
      const waitMs = refused.kind === "refused" ? refused.refusal.retryAfterMs : 0;
      expect(waitMs).toBeGreaterThan(3_590_000);
      expect(waitMs).toBeLessThanOrEqual(3_600_000);
      expect(await run(limits, keyed(freePlan, "key", account.address))).toMatchObject({ kind: "entered" });
      expect(await run(limits, keyless(keylessPlan, "b"))).toMatchObject({ kind: "entered" });
    });

    test(`a client without a key gets 3,600 s of engine time in a day in ${name}`, async () => {
      const limits = await limitsOf();
      const account = keyless(keylessPlan);
      await run(limits, account, 3_600_000);
      expect(await run(limits, account)).toMatchObject({
        refusal: { limit: "engine-day", quota: 3_600_000 },
      });
    });

    test(`if the requests in ${name} are used up for longer than the engine time, a refusal names the requests`, async () => {
      const limits = await limitsOf();
      const account = keyless(
        planWith([
          { ...hour, quota: 1 },
          { ...engine, windowS: 60 },
        ]),
      );
      await run(limits, account, 2000);
      const refused = await run(limits, account);
      expect(refused).toMatchObject({ refusal: { code: "rate_limited", limit: "hour" } });
      const waitMs = refused.kind === "refused" ? refused.refusal.retryAfterMs : 0;
      expect(waitMs).toBeGreaterThan(3_590_000);
    });

    test(`several keys of one address share the engine time counted in ${name}`, async () => {
      const limits = await limitsOf();
      await run(limits, keyed(plan, "one", "a"), 600);
      await run(limits, keyed(plan, "two", "a"), 600);
      expect((await run(limits, keyed(plan, "three", "a"))).kind).toBe("refused");
      expect((await run(limits, keyed(plan, "three", "b"))).kind).toBe("entered");
    });

    test(`several addresses with one key share the engine time counted in ${name}`, async () => {
      const limits = await limitsOf();
      await run(limits, keyed(plan, "one", "a"), 600);
      await run(limits, keyed(plan, "one", "b"), 600);
      expect((await run(limits, keyed(plan, "one", "c"))).kind).toBe("refused");
    });

    test(`engine time in ${name} is counted separately for each plan at the same address`, async () => {
      const gold: Plan = { ...plan, id: "gold" };
      const limits = await limitsOf();
      await run(limits, keyed(gold, "one", "a"), 5000);
      expect((await run(limits, keyed(plan, "two", "a"))).kind).toBe("entered");
    });

    test(`engine time in ${name} of a client without a key is counted only once`, async () => {
      const keylessEngine: Plan = { ...keylessPlan, limits: plan.limits };
      const limits = await limitsOf();
      await run(limits, keyless(keylessEngine), 400);
      expect(await remainingOf(limits, keyless(keylessEngine))).toEqual([600]);
    });
  });
}

/** Defines tests that wait until a rate limit window ends. Other tests simulate the clock. */
export function testWindows(name: string, create: () => Promise<Limits>): void {
  const windowS = 2;
  const plan = planWith([{ ...minute, windowS }]);

  test(`a request that ${name} refuses is accepted exactly after the retry time in the error`, async () => {
    const [limits, account] = [await create(), keyless(plan)];
    const startedAt = performance.now();
    await run(limits, account);
    await run(limits, account);
    const entry = await run(limits, account);
    const waitMs = entry.kind === "refused" ? entry.refusal.retryAfterMs : Number.NaN;
    expect(performance.now() + waitMs - startedAt).toBeGreaterThanOrEqual(windowS * 1000 - 1);
    await sleep(waitMs + 2);
    expect(await run(limits, account)).toMatchObject({ kind: "entered" });
  });

  test(`refunding a request in ${name} does not change a later window`, async () => {
    const limits = await create();
    const entry = await limits.enter(keyless(plan), timeOf(1000));
    expect(entry.kind).toBe("entered");
    await sleep(windowS * 1000 + 10);
    await run(limits, keyless(plan));
    leave(entry, 0, false);
    expect(await remainingOf(limits, keyless(plan))).toEqual([1]);
  });
}
