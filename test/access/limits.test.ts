import { describe, expect, test, vi } from "vitest";
import { createLimits } from "../../src/access/limits.ts";
import type { SearchTime } from "../../src/analysis/expected-time.ts";
import { createMemoryLimitStore } from "../../src/storage/memory/limit-store.ts";
import { StoreUnavailable } from "../../src/storage/ports.ts";
import {
  engine,
  keyed,
  keyless,
  leave,
  memoryLimits,
  minute,
  planWith,
  remainingOf,
  run,
  testLimits,
  timeOf,
} from "../contract/limits.ts";
import { openOwnStores } from "../support/own-stores.ts";

const limitsOf = () => memoryLimits();

testLimits("memory", limitsOf);

describe("requests", () => {
  test("a refused request is admitted exactly after its Retry-After time", async () => {
    vi.useFakeTimers();
    try {
      const plan = planWith([minute]);
      const limits = await limitsOf();
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
      expect(await run(limits, account)).toMatchObject({ kind: "entered" });
    } finally {
      vi.useRealTimers();
    }
  });

  test("refunding a request has no effect after the end of the window in which the request was counted", async () => {
    vi.useFakeTimers();
    try {
      const plan = planWith([minute]);
      const limits = await limitsOf();
      const entry = await limits.enter(keyless(plan), timeOf(1000));
      expect(entry.kind).toBe("entered");
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

  /**
   * Starts one search for each element of `times`, and then waits `elapsedMs`. Returns the Retry-After time of the next
   * request.
   */
  async function waitMsAfter(elapsedMs: number, ...times: readonly SearchTime[]): Promise<number> {
    vi.useFakeTimers();
    try {
      const limits = await limitsOf();
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

  test("the Retry-After time of a refused search is based on twice the expected time of the shortest running search", async () => {
    expect(await waitMsAfter(100, timeOf(5000, 60_000), timeOf(400, 60_000))).toBe(700);
  });

  test("the Retry-After time of a refused search is at most 1.5 s longer than the time limit of the running search", async () => {
    expect(await waitMsAfter(0, timeOf(5000, 5000), timeOf(5000, 5000))).toBe(6500);
  });

  test("the Retry-After time of a refused search grows while the running search takes longer than expected", async () => {
    expect(await waitMsAfter(8000, timeOf(400, 60_000), timeOf(400, 60_000))).toBe(2000);
  });

  test("each time a search ends, one waiting request is admitted", async () => {
    const limits = await limitsOf();
    const enter = (waiting?: AbortSignal) => limits.enter(keyless(plan), timeOf(700), { waiting });
    const running = [await enter(), await enter()];
    const { signal } = new AbortController();
    const waiting = [enter(signal), enter(signal), enter(signal)];
    for (const entry of running) {
      leave(entry);
    }
    const [first, second] = await Promise.all(waiting.slice(0, 2));
    expect([first?.kind, second?.kind]).toEqual(["entered", "entered"]);
    leave(first);
    expect((await waiting[2])?.kind).toBe("entered");
  });

  test("a request is admitted immediately if a search ends while the request is being refused", async () => {
    const limits = await limitsOf();
    const enter = (waiting?: AbortSignal) => limits.enter(keyless(plan), timeOf(700), { waiting });
    const [first] = [await enter(), await enter()];
    const waiting = enter(new AbortController().signal);
    leave(first);
    expect((await waiting).kind).toBe("entered");
  });
});

describe("a store of several nodes", () => {
  const plan = planWith([{ ...minute, quota: 7 }, engine], 5);
  const account = keyed(plan, "key", "a");

  function startNode(nodes: number) {
    const counted = createMemoryLimitStore();
    let available = true;
    let isLost = false;
    const store = {
      ...counted,
      get available() {
        return available;
      },
      enter: vi.fn(async (...asked: Parameters<typeof counted.enter>) => {
        if (isLost) {
          throw new StoreUnavailable("it has not answered");
        }
        return counted.enter(...asked);
      }),
    };
    const limits = createLimits(createMemoryLimitStore(), { store, nodes: () => nodes });
    const set = (is: { available: boolean; isLost: boolean }) => {
      ({ available, isLost } = is);
    };
    return { limits, store, set };
  }

  test("without the shared store, a node has a fraction of each quota, rounded up, and reports the remaining requests of this fraction", async () => {
    const { limits, set } = startNode(3);
    await run(limits, account, 100);
    expect(await remainingOf(limits, account)).toEqual([6, 900]);
    set({ available: false, isLost: true });
    const entries = [];
    for (let count = 0; count < 4; count++) {
      entries.push(await run(limits, account));
    }
    expect(entries.map(({ kind }) => kind)).toEqual(["entered", "entered", "entered", "refused"]);
    expect(entries[2]).toMatchObject({
      windows: [
        { policy: { quota: 3 }, remaining: 0 },
        { policy: { quota: 334 }, remaining: 334 },
      ],
    });
    expect(entries[3]).toMatchObject({ refusal: { code: "rate_limited", quota: 3 } });
    expect(await remainingOf(limits, account)).toEqual([0, 334]);
    set({ available: true, isLost: false });
    expect(await remainingOf(limits, account)).toEqual([6, 900]);
  });

  test("without the shared store, a node has a fraction of the limit of concurrent searches", async () => {
    const { limits, set } = startNode(3);
    set({ available: false, isLost: true });
    const enter = () => limits.enter(account, timeOf(700));
    const [first] = [await enter(), await enter()];
    expect(await enter()).toMatchObject({ refusal: { code: "concurrency_limited", quota: 2 } });
    leave(first);
    expect((await enter()).kind).toBe("entered");
  });

  test("a node counts a request in its own memory if the shared store fails during the request", async () => {
    const { limits, set } = startNode(1);
    set({ available: true, isLost: true });
    expect(await run(limits, account)).toMatchObject({ windows: [{ remaining: 6 }, { remaining: 1000 }] });
  });

  test("an unexpected error in the shared store is thrown", async () => {
    const { limits, store } = startNode(1);
    store.enter.mockRejectedValueOnce(new TypeError("a bug"));
    await expect(run(limits, account)).rejects.toThrow("a bug");
  });

  test("a plan without limits does not use the shared store", async () => {
    const { limits, store } = startNode(2);
    expect((await run(limits, keyless(planWith([])))).kind).toBe("entered");
    expect(store.enter).not.toHaveBeenCalled();
  });
});

describe("engine time", () => {
  const plan = planWith([engine]);

  test("the used engine time survives a restart until the end of its window", async () => {
    const { usage } = openOwnStores();
    const before = await memoryLimits(usage);
    const account = keyed(plan, "key", "a");
    await run(before, account, 300);
    await before.flush();
    await run(before, account, 500);
    await before.flush();
    const after = await memoryLimits(usage);
    expect(await remainingOf(after, account)).toEqual([200]);
    const [own] = await after.allWindowsOf(account);
    expect(own?.resetMs).toBeGreaterThan(86_390_000);
    await run(after, account, 200);
    expect((await run(after, account)).kind).toBe("refused");
  });

  const dayMs = 86_400_000;

  test("a caller that used up the engine time under a clock that was ten years fast is admitted a day after the next start, over all restarts", async () => {
    const { usage } = openOwnStores();
    const account = keyed(plan, "key", "a");
    const clock = vi.spyOn(Date, "now");
    const start = Date.now();
    const bootAfter = (days: number) => {
      clock.mockReturnValue(start + days * dayMs);
      return memoryLimits(usage);
    };
    try {
      const fast = await bootAfter(3652);
      await run(fast, account, 1000);
      await fast.flush();
      const right = await bootAfter(0);
      expect(await run(right, account)).toMatchObject({ refusal: { code: "quota_exhausted" } });
      await right.flush();
      expect((await run(await bootAfter(0.9), account)).kind).toBe("refused");
      expect((await run(await bootAfter(1.1), account)).kind).toBe("entered");
    } finally {
      clock.mockRestore();
    }
  });

  test("if the operator shortens a window, a window that has begun ends at the latest after the new length", async () => {
    const { usage } = openOwnStores();
    const account = keyed(plan, "key", "a");
    const before = await memoryLimits(usage);
    await run(before, account, 1000);
    await before.flush();
    const shorter = planWith([{ ...engine, windowS: 60 }]);
    const after = await memoryLimits(usage, shorter);
    const entry = await run(after, keyed(shorter, "key", "a"));
    expect(entry).toMatchObject({ refusal: { code: "quota_exhausted" } });
    expect(entry.kind === "refused" && entry.refusal.retryAfterMs).toBeLessThanOrEqual(60_000);
    await after.flush();
    const stored = await usage.current(Date.now());
    expect(stored).toHaveLength(2);
    for (const { engineMs, resetsAt } of stored) {
      expect(engineMs).toBe(1000);
      expect(resetsAt).toBeLessThanOrEqual(Date.now() + 60_000);
    }
    // The shorter window has ended.
    expect(await usage.current(Date.now() + 60_000)).toEqual([]);
  });

  test("if engine time cannot be written, the next flush writes the engine time exactly once", async () => {
    const { usage } = openOwnStores();
    const limits = await memoryLimits(usage);
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
