import { RateLimiterMemory } from "rate-limiter-flexible";
import { afterEach, describe, expect, type MockInstance, test, vi } from "vitest";
import type { Account } from "../../src/access/account.ts";
import { createLimits, type Entry, type Limits } from "../../src/access/limits.ts";
import { freePlan, keylessPlan, openPlan, type Plan, type RatePolicy } from "../../src/access/plans.ts";
import type { SearchTime } from "../../src/analysis/expected-time.ts";
import { createMemoryUsageStore } from "../../src/storage/memory/usage-store.ts";
import type { KeyRecord } from "../../src/storage/ports.ts";

const never = new AbortController().signal;

function planWith(rates: readonly RatePolicy[], concurrent?: number): Plan {
  return { ...freePlan, limits: { ...freePlan.limits, concurrent, rates } };
}

const limitsOf = (...plans: readonly Plan[]) => createLimits({ plans, usage: createMemoryUsageStore() });

const keyless = (plan: Plan, address = "a"): Account => ({ subject: address, address, plan, key: undefined });
const keyed = (plan: Plan, id: string, address: string): Account => ({
  subject: id,
  address,
  plan,
  key: { id } as KeyRecord,
});

/** Lets a request in, ends it after so much engine time, and tells how it went. */
async function run(limits: Limits, account: Account, engineMs = 0, answered = true): Promise<Entry> {
  const entry = await limits.enter(account, timeOf(1000));
  leave(entry, engineMs, answered);
  return entry;
}

function leave(entry: Entry | undefined, engineMs = 0, answered = true): void {
  if (entry?.kind === "admitted") {
    entry.admission.leave(engineMs, answered);
  }
}

const timeOf = (expectedMs: number, longestMs = expectedMs): SearchTime => ({ expectedMs, longestMs });

const remainingOf = async (limits: Limits, account: Account) =>
  (await limits.allWindowsOf(account)).map(({ remaining }) => remaining);

const minute: RatePolicy = { name: "minute", quota: 2, windowS: 60, unit: "request" };
const hour: RatePolicy = { name: "hour", quota: 3, windowS: 3600, unit: "request" };
const engine: RatePolicy = { name: "engine", quota: 1000, windowS: 86_400, unit: "engine_ms" };

describe("requests", () => {
  test("are counted by caller, in windows that begin with the first", async () => {
    const plan = planWith([minute]);
    const limits = await limitsOf(plan);
    await run(limits, keyless(plan, "a"));
    await run(limits, keyless(plan, "a"));
    expect(await run(limits, keyless(plan, "a"))).toMatchObject({
      kind: "refused",
      refusal: { code: "rate_limited", limit: "minute", quota: 2 },
    });
    expect(await run(limits, keyless(plan, "b"))).toMatchObject({ kind: "admitted" });
    expect(await run(limits, keyed(plan, "key", "a"))).toMatchObject({ kind: "admitted" });
  });

  test("that are refused cost nothing, in no window", async () => {
    const plan = planWith([minute, hour]);
    const limits = await limitsOf(plan);
    const account = keyless(plan);
    for (let count = 0; count < 10; count++) {
      await run(limits, account);
    }
    expect(await remainingOf(limits, account)).toEqual([0, 1]);
  });

  test("wait for the window that is longest", async () => {
    const plan = planWith([hour, { ...minute, quota: 3 }]);
    const limits = await limitsOf(plan);
    for (let count = 0; count < 3; count++) {
      await run(limits, keyless(plan));
    }
    const entry = await run(limits, keyless(plan));
    expect(entry).toMatchObject({ refusal: { limit: "hour" } });
    expect(entry.kind === "refused" && entry.refusal.retryAfterMs).toBeGreaterThan(3_590_000);
  });

  test("that failed without engine time are given back; those that took some are not", async () => {
    const plan = planWith([hour]);
    const limits = await limitsOf(plan);
    const account = keyless(plan);
    await run(limits, account, 0, false);
    expect(await remainingOf(limits, account)).toEqual([3]);
    await run(limits, account, 5, false);
    await run(limits, account, 0, true);
    expect(await remainingOf(limits, account)).toEqual([1]);
  });

  test("are let in again after exactly as long as the refusal says", async () => {
    vi.useFakeTimers();
    try {
      const plan = planWith([minute]);
      const limits = await limitsOf(plan);
      const account = keyless(plan);
      await run(limits, account);
      await vi.advanceTimersByTimeAsync(20_000);
      await run(limits, account);
      const entry = await run(limits, account);
      const waitMs = entry.kind === "refused" ? entry.refusal.retryAfterMs : Number.NaN;
      expect(waitMs).toBe(40_000);
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(await run(limits, account)).toMatchObject({ kind: "refused" });
      await vi.advanceTimersByTimeAsync(1);
      expect(await run(limits, account)).toMatchObject({ kind: "admitted" });
    } finally {
      vi.useRealTimers();
    }
  });

  test("are not given back to a window that they were not taken from", async () => {
    vi.useFakeTimers();
    try {
      const plan = planWith([minute]);
      const limits = await limitsOf(plan);
      const entry = await limits.enter(keyless(plan), timeOf(1000));
      expect(entry.kind).toBe("admitted");
      await vi.advanceTimersByTimeAsync(61_000);
      leave(entry, 0, false);
      expect(await remainingOf(limits, keyless(plan))).toEqual([2]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("of a plan without limits are not counted", async () => {
    const limits = await limitsOf(openPlan);
    for (let count = 0; count < 1000; count++) {
      expect((await run(limits, keyless(openPlan), 1e9)).kind).toBe("admitted");
    }
    expect(await limits.windowsOf(keyless(openPlan))).toEqual([]);
  });
});

describe("searches at a time", () => {
  const plan = planWith([], 2);

  test("are so many for each caller, and each makes room for one when it ends, once", async () => {
    const limits = await limitsOf(plan);
    const enter = () => limits.enter(keyless(plan), timeOf(700));
    const [first] = [await enter(), await enter()];
    expect(await enter()).toMatchObject({ refusal: { code: "concurrency_limited", quota: 2 } });
    expect((await limits.enter(keyless(plan, "b"), timeOf(700))).kind).toBe("admitted");
    leave(first);
    leave(first);
    expect([(await enter()).kind, (await enter()).kind]).toEqual(["admitted", "refused"]);
  });

  /** When one of these searches is expected to have ended, after so long. */
  async function waitMsAfter(elapsedMs: number, ...times: readonly SearchTime[]): Promise<number> {
    vi.useFakeTimers();
    try {
      const limits = await limitsOf(plan);
      for (const time of times) {
        await limits.enter(keyless(plan), time);
      }
      await vi.advanceTimersByTimeAsync(elapsedMs);
      const entry = await limits.enter(keyless(plan), timeOf(1));
      return entry.kind === "refused" ? entry.refusal.retryAfterMs : Number.NaN;
    } finally {
      vi.useRealTimers();
    }
  }

  test("are given twice the time that they are expected to take, however long they could", async () => {
    expect(await waitMsAfter(100, timeOf(5000, 60_000), timeOf(400, 60_000))).toBe(700);
  });

  test("are given no more time than their own limit and the patience of whoever watches it", async () => {
    expect(await waitMsAfter(0, timeOf(5000, 5000), timeOf(5000, 5000))).toBe(6500);
  });

  test("that have overrun it are given some of what they have taken", async () => {
    expect(await waitMsAfter(8000, timeOf(400, 60_000), timeOf(400, 60_000))).toBe(2000);
  });

  test("tell all who wait when one has ended", async () => {
    const limits = await limitsOf(plan);
    const account = keyless(plan);
    await limits.placeFree(account, never);
    await limits.enter(account, timeOf(700));
    await limits.placeFree(account, never);
    const entry = await limits.enter(account, timeOf(700));
    const waiting = [limits.placeFree(account, never), limits.placeFree(account, never)];
    const leaving = new AbortController();
    const left = limits.placeFree(account, leaving.signal);
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    leave(entry);
    await Promise.all(waiting);
  });

  test("let nobody wait beside a place that came free while they were told that there is none", async () => {
    const limits = await limitsOf(plan);
    const account = keyless(plan);
    const [first] = [await limits.enter(account, timeOf(700)), await limits.enter(account, timeOf(700))];
    const refused = limits.enter(account, timeOf(700));
    leave(first);
    expect(await refused).toMatchObject({ refusal: { code: "concurrency_limited" } });
    await limits.placeFree(account, AbortSignal.timeout(1000));
    expect((await limits.enter(account, timeOf(700))).kind).toBe("admitted");
  });
});

describe("engine time", () => {
  const plan = planWith([engine]);

  test("is counted when it was used, and what is begun is finished", async () => {
    const limits = await limitsOf(plan);
    const account = keyed(plan, "key", "a");
    await run(limits, account, 400);
    expect(await remainingOf(limits, account)).toEqual([600]);
    await run(limits, account, 700);
    expect(await run(limits, account)).toMatchObject({
      refusal: { code: "quota_exhausted", limit: "engine", quota: 1000 },
    });
    expect(await remainingOf(limits, account)).toEqual([0]);
  });

  test("is counted by address, too: more keys are not more time", async () => {
    const limits = await limitsOf(plan);
    await run(limits, keyed(plan, "one", "a"), 600);
    await run(limits, keyed(plan, "two", "a"), 600);
    expect((await run(limits, keyed(plan, "three", "a"))).kind).toBe("refused");
    expect((await run(limits, keyed(plan, "three", "b"))).kind).toBe("admitted");
  });

  test("is counted by key, too: more addresses are not more time", async () => {
    const limits = await limitsOf(plan);
    await run(limits, keyed(plan, "one", "a"), 600);
    await run(limits, keyed(plan, "one", "b"), 600);
    expect((await run(limits, keyed(plan, "one", "c"))).kind).toBe("refused");
  });

  test("of one plan is not that of another, at the same address", async () => {
    const gold: Plan = { ...plan, id: "gold" };
    const limits = await limitsOf(plan, gold);
    await run(limits, keyed(gold, "one", "a"), 5000);
    expect((await run(limits, keyed(plan, "two", "a"))).kind).toBe("admitted");
  });

  test("of a caller without a key is counted once", async () => {
    const keylessEngine: Plan = { ...keylessPlan, limits: plan.limits };
    const limits = await limitsOf(keylessEngine);
    await run(limits, keyless(keylessEngine), 400);
    expect(await remainingOf(limits, keyless(keylessEngine))).toEqual([600]);
  });

  test("survives a restart, to the end of its window", async () => {
    const usage = createMemoryUsageStore();
    const before = await createLimits({ plans: [plan], usage });
    const account = keyed(plan, "key", "a");
    await run(before, account, 300);
    await before.flush();
    await run(before, account, 500);
    await before.flush();
    const after = await createLimits({ plans: [plan], usage });
    expect(await remainingOf(after, account)).toEqual([200]);
    const [own] = await after.allWindowsOf(account);
    expect(own?.resetMs).toBeGreaterThan(86_390_000);
    await run(after, account, 200);
    expect((await run(after, account)).kind).toBe("refused");
  });

  test("that cannot be written down is written later, and not twice", async () => {
    const usage = createMemoryUsageStore();
    const limits = await createLimits({ plans: [plan], usage });
    vi.spyOn(usage, "add").mockRejectedValueOnce(new Error("full"));
    await run(limits, keyed(plan, "key", "a"), 300);
    await expect(limits.flush()).rejects.toThrow("full");
    await run(limits, keyed(plan, "key", "a"), 200);
    await limits.flush();
    await limits.flush();
    const kept = await usage.current(Date.now());
    expect(kept.map(({ subject, engineMs }) => [subject, engineMs]).toSorted()).toEqual([
      ["a", 500],
      ["key", 500],
    ]);
  });
});

describe("where a counter cannot be asked", () => {
  afterEach(() => vi.restoreAllMocks());
  const plan = planWith([minute, { ...hour, quota: 2 }, engine], 1);
  const account = keyed(plan, "key", "a");
  const counters = RateLimiterMemory.prototype;

  test.each(["get", "consume"] as const)(
    "nothing is taken: neither a place nor a request (%s)",
    async (method) => {
      const limits = await limitsOf(plan);
      const whole = counters[method];
      for (const failing of [1, 2]) {
        let calls = 0;
        const broken = vi.spyOn(counters, method) as MockInstance<typeof counters.get>;
        broken.mockImplementation(function (this: RateLimiterMemory, subject) {
          return ++calls === failing ? Promise.reject(new Error("gone")) : whole.call(this, subject);
        });
        await expect(limits.enter(account, timeOf(1000))).rejects.toThrow("gone");
        broken.mockRestore();
      }
      expect(await remainingOf(limits, account)).toEqual([2, 2, 1000]);
      expect((await run(limits, account)).kind).toBe("admitted");
    },
  );

  test("what nobody waits for is told, and thrown at nobody", async () => {
    const told: unknown[] = [];
    const usage = createMemoryUsageStore();
    const limits = await createLimits({ plans: [plan], usage, onFailure: (error) => told.push(error) });
    const gone = new Error("gone");
    vi.spyOn(counters, "reward").mockRejectedValue(gone);
    vi.spyOn(counters, "penalty").mockRejectedValue(gone);
    await run(limits, account, 0, false);
    await run(limits, account, 300);
    await limits.flush();
    expect(told).toEqual([gone, gone, gone, gone]);
    // It counts from the next start on.
    const kept = await usage.current(Date.now());
    expect(kept.map(({ subject, engineMs }) => [subject, engineMs]).toSorted()).toEqual([
      ["a", 300],
      ["key", 300],
    ]);
  });
});
