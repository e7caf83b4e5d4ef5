import { describe, expect, test, vi } from "vitest";
import { KibitzError } from "../../src/errors/errors.ts";
import { retryOverloaded } from "../../src/services/batch.ts";

const never = new AbortController().signal;
const since = () => performance.now();
const busy = (retryAfterMs: number) => new KibitzError("overloaded", "busy", { retryAfterMs });

describe("a task", () => {
  test("an overloaded task is run again after as long as its refusal says", async () => {
    const startedAt = performance.now();
    const task = vi
      .fn(async () => "done")
      .mockRejectedValueOnce(busy(200))
      .mockRejectedValueOnce(busy(0));
    expect(await retryOverloaded(task, never, { since })).toBe("done");
    expect(task).toHaveBeenCalledTimes(3);
    expect(performance.now() - startedAt).toBeGreaterThan(295);
  });

  test("an overloaded task is run again after a second, though the refusal asks to wait for an hour", async () => {
    const task = vi.fn(async () => "done").mockRejectedValueOnce(busy(3_600_000));
    expect(await retryOverloaded(task, never, { since })).toBe("done");
    expect(task).toHaveBeenCalledTimes(2);
  });

  test("a task is not run again after another error than overloaded", async () => {
    const mistake = new KibitzError("starting", "not yet", { retryAfterMs: 1 });
    const task = vi.fn(async () => Promise.reject(mistake));
    await expect(retryOverloaded(task, never, { since })).rejects.toBe(mistake);
    expect(task).toHaveBeenCalledTimes(1);
  });

  test("an overloaded task is run a last time when its patience ends, however long the refusal asks to wait", async () => {
    const refusal = busy(61_000);
    const startedAt = performance.now();
    const task = vi.fn(async () => Promise.reject(refusal));
    const tried = retryOverloaded(task, never, { since: () => startedAt, patienceMs: 1000 });
    await expect(tried).rejects.toBe(refusal);
    expect(task).toHaveBeenCalledTimes(2);
  });

  test("an overloaded task is tried for as long as there is progress elsewhere", async () => {
    const task: ReturnType<typeof vi.fn<() => Promise<string>>> = vi.fn(async () =>
      task.mock.calls.length < 5 ? Promise.reject(busy(0)) : "done",
    );
    expect(await retryOverloaded(task, never, { since, patienceMs: 150 })).toBe("done");
  });

  test("an overloaded task is not run again when its caller has left", async () => {
    const leave = new AbortController();
    const task = vi.fn(async () => Promise.reject(busy(30_000)));
    const waiting = retryOverloaded(task, leave.signal, { since });
    leave.abort();
    await expect(waiting).rejects.toThrow();
    expect(task).toHaveBeenCalledTimes(1);
  });
});
