import { describe, expect, test, vi } from "vitest";
import { createMemoryLimits } from "../../src/access/limits.ts";
import type { Plan } from "../../src/access/plans.ts";
import type { SearchTime } from "../../src/analysis/expected-time.ts";
import { createMemoryUsageStore } from "../../src/storage/memory/usage-store.ts";
import {
  engine,
  keyed,
  keyless,
  leave,
  minute,
  planWith,
  remainingOf,
  run,
  testLimits,
  timeOf,
} from "../contract/limits.ts";

const never = new AbortController().signal;

const limitsOf = (...plans: readonly Plan[]) => createMemoryLimits(plans, createMemoryUsageStore());

testLimits("memory", limitsOf);

describe("requests", () => {
  test("a request is admitted again after exactly the time in its refusal", async () => {
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

  test("a request is not given back to a window that it was not taken from", async () => {
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
});

describe("searches at a time", () => {
  const plan = planWith([], 2);

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

  test("the wait for a place is twice the expected time of a search, whatever its limit", async () => {
    expect(await waitMsAfter(100, timeOf(5000, 60_000), timeOf(400, 60_000))).toBe(700);
  });

  test("the wait for a place is no longer than the limit of the search that has it", async () => {
    expect(await waitMsAfter(0, timeOf(5000, 5000), timeOf(5000, 5000))).toBe(6500);
  });

  test("the wait for the place of a search that overran is a part of its time so far", async () => {
    expect(await waitMsAfter(8000, timeOf(400, 60_000), timeOf(400, 60_000))).toBe(2000);
  });

  test("a search that ends wakes all callers that wait for its place", async () => {
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

  test("no caller waits for a place that came free during its refusal", async () => {
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

  test("engine time survives a restart, to the end of its window", async () => {
    const usage = createMemoryUsageStore();
    const before = await createMemoryLimits([plan], usage);
    const account = keyed(plan, "key", "a");
    await run(before, account, 300);
    await before.flush();
    await run(before, account, 500);
    await before.flush();
    const after = await createMemoryLimits([plan], usage);
    expect(await remainingOf(after, account)).toEqual([200]);
    const [own] = await after.allWindowsOf(account);
    expect(own?.resetMs).toBeGreaterThan(86_390_000);
    await run(after, account, 200);
    expect((await run(after, account)).kind).toBe("refused");
  });

  test("engine time that cannot be written is written later, and once", async () => {
    const usage = createMemoryUsageStore();
    const limits = await createMemoryLimits([plan], usage);
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
