import { describe, expect, test, vi } from "vitest";
import { runConcurrently } from "../../src/services/many-searches.ts";
import { patienceMs } from "../support/patience.ts";

const never = new AbortController().signal;

/** Tasks that end when the test says so. */
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

describe("tasks", () => {
  test("concurrent tasks are answered as they are ready", async () => {
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

  test("concurrent tasks are started in order, no more at once than allowed, and none while nobody reads", async () => {
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

  test("concurrent tasks are aborted when their reader leaves", async () => {
    const { tasks, signals, start } = controlled();
    const results = runConcurrently(3, 2, start, never);
    const first = results.next();
    tasks[0]?.resolve("a");
    await first;
    await results.return(undefined);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    expect(tasks).toHaveLength(2);
  });

  test("concurrent tasks are aborted with the reason of the signal", async () => {
    const { start } = controlled();
    const leave = new AbortController();
    const first = runConcurrently(3, 2, start, leave.signal).next();
    const reason = new Error("left");
    leave.abort(reason);
    await expect(first).rejects.toBe(reason);
  });

  test("no tasks are no results", async () => {
    expect(await Array.fromAsync(runConcurrently(0, 2, () => expect.fail("started"), never))).toEqual([]);
  });
});
