import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { KibitzError } from "../../src/errors/errors.ts";
import { retryOverloaded, runConcurrently } from "../../src/services/many-searches.ts";
import { patienceMs } from "../support/patience.ts";

const never = new AbortController().signal;

/** Creates tasks that run until the test resolves them. */
function controlled() {
  const tasks: PromiseWithResolvers<string>[] = [];
  const signals: AbortSignal[] = [];
  const start = (index: number, signal: AbortSignal) => {
    const task = Promise.withResolvers<string>();
    tasks[index] = task;
    signals.push(signal);
    signal.addEventListener("abort", () => task.reject(signal.reason));
    return task.promise;
  };
  return { tasks, signals, start };
}

describe("concurrent tasks", () => {
  test("results of concurrent tasks are returned in the order in which the tasks finish", async () => {
    const { tasks, start } = controlled();
    const results = runConcurrently(3, 3, start, never);
    const first = results.next();
    tasks[2]?.resolve("c");
    expect((await first).value).toBe("c");
    tasks[0]?.resolve("a");
    expect((await results.next()).value).toBe("a");
    tasks[1]?.resolve("b");
    expect((await results.next()).value).toBe("b");
    expect((await results.next()).done).toBe(true);
  });

  test("concurrent tasks start in order, and the next task starts only after the reader has read a result", async () => {
    const { tasks, start } = controlled();
    const results = runConcurrently(4, 2, start, never);
    const first = results.next();
    await vi.waitFor(() => expect(tasks).toHaveLength(2), patienceMs);
    tasks[0]?.resolve("a");
    tasks[1]?.resolve("b");
    await first;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(tasks).toHaveLength(2);
    await results.next();
    expect(tasks).toHaveLength(3);
    await results.return(undefined);
  });

  test("concurrent tasks are aborted when the reader of their results stops reading", async () => {
    const { tasks, signals, start } = controlled();
    const results = runConcurrently(3, 2, start, never);
    const first = results.next();
    tasks[0]?.resolve("a");
    await first;
    await results.return(undefined);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    expect(tasks).toHaveLength(2);
  });

  test("running no tasks gives no results", async () => {
    expect(await Array.fromAsync(runConcurrently(0, 2, () => expect.fail("started"), never))).toEqual([]);
  });
});

const progressedAt = () => performance.now();
const busy = (retryAfterMs: number) => new KibitzError("overloaded", "busy", { retryAfterMs });

describe("an overloaded task", () => {
  test("a task that fails with the error overloaded is retried after the delay in the error", async () => {
    // Node's timers start at the beginning of an event loop iteration, so the test waits for a new one.
    await nextTurn();
    const startedAt = performance.now();
    const task = vi
      .fn(async () => "done")
      .mockRejectedValueOnce(busy(200))
      .mockRejectedValueOnce(busy(0));
    expect(await retryOverloaded(task, never, { progressedAt })).toBe("done");
    expect(task).toHaveBeenCalledTimes(3);
    expect(performance.now() - startedAt).toBeGreaterThan(295);
  });

  test("a task that fails with the error overloaded is retried after a second, even if the delay in the error is an hour", async () => {
    const task = vi.fn(async () => "done").mockRejectedValueOnce(busy(3_600_000));
    expect(await retryOverloaded(task, never, { progressedAt })).toBe("done");
    expect(task).toHaveBeenCalledTimes(2);
  });

  test("a task that fails with another error than overloaded is not retried", async () => {
    const mistake = new KibitzError("starting", "not yet", { retryAfterMs: 1 });
    const task = vi.fn(async () => Promise.reject(mistake));
    await expect(retryOverloaded(task, never, { progressedAt })).rejects.toBe(mistake);
    expect(task).toHaveBeenCalledTimes(1);
  });

  test("a task that fails with the error overloaded is not retried if no other task made progress for a minute", async () => {
    const refusal = busy(0);
    const task = vi.fn(async () => Promise.reject(refusal));
    const tried = retryOverloaded(task, never, {
      progressedAt: () => performance.now() - (task.mock.calls.length < 3 ? 59_000 : 61_000),
    });
    await expect(tried).rejects.toBe(refusal);
    expect(task).toHaveBeenCalledTimes(3);
  });

  test("a task that fails with the error overloaded is retried as long as other tasks make progress", async () => {
    const task: ReturnType<typeof vi.fn<() => Promise<string>>> = vi.fn(async () =>
      task.mock.calls.length < 5 ? Promise.reject(busy(0)) : "done",
    );
    expect(await retryOverloaded(task, never, { progressedAt, patienceMs: 150 })).toBe("done");
  });
});
