import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { KibitzError } from "../../src/errors/errors.ts";
import { retryOverloaded } from "../../src/services/many-searches.ts";

const never = new AbortController().signal;
const progressedAt = () => performance.now();
const busy = (retryAfterMs: number) => new KibitzError("overloaded", "busy", { retryAfterMs });

describe("a task", () => {
  test("an overloaded task is run again after as long as its refusal says", async () => {
    // Node's timers count from the beginning of a turn of the event loop, which may be long ago in this one.
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

  test("an overloaded task is run again after a second, though the refusal asks to wait for an hour", async () => {
    const task = vi.fn(async () => "done").mockRejectedValueOnce(busy(3_600_000));
    expect(await retryOverloaded(task, never, { progressedAt })).toBe("done");
    expect(task).toHaveBeenCalledTimes(2);
  });

  test("a task is not run again after another error than overloaded", async () => {
    const mistake = new KibitzError("starting", "not yet", { retryAfterMs: 1 });
    const task = vi.fn(async () => Promise.reject(mistake));
    await expect(retryOverloaded(task, never, { progressedAt })).rejects.toBe(mistake);
    expect(task).toHaveBeenCalledTimes(1);
  });

  test("an overloaded task is not run again when there was no progress for a minute", async () => {
    const refusal = busy(0);
    const task = vi.fn(async () => Promise.reject(refusal));
    const tried = retryOverloaded(task, never, {
      progressedAt: () => performance.now() - (task.mock.calls.length < 3 ? 59_000 : 61_000),
    });
    await expect(tried).rejects.toBe(refusal);
    expect(task).toHaveBeenCalledTimes(3);
  });

  test("an overloaded task is run again for as long as there is progress elsewhere", async () => {
    const task: ReturnType<typeof vi.fn<() => Promise<string>>> = vi.fn(async () =>
      task.mock.calls.length < 5 ? Promise.reject(busy(0)) : "done",
    );
    expect(await retryOverloaded(task, never, { progressedAt, patienceMs: 150 })).toBe("done");
  });

  test("an overloaded task is not run again when its caller has left", async () => {
    const leave = new AbortController();
    const task = vi.fn(async () => Promise.reject(busy(30_000)));
    const waiting = retryOverloaded(task, leave.signal, { progressedAt });
    leave.abort();
    await expect(waiting).rejects.toThrow();
    expect(task).toHaveBeenCalledTimes(1);
  });
});
