import { expect, onTestFinished, test, vi } from "vitest";
import { createLatest } from "../../src/analysis/coalesce.ts";

const turn = () => new Promise(setImmediate);

test("a quick reader gets every value", async () => {
  const latest = createLatest<number>();
  const read = Array.fromAsync(latest);
  for (const value of [1, 2, 3]) {
    latest.push(value);
    await turn();
  }
  latest.end();
  expect(await read).toEqual([1, 2, 3]);
});

test("a slow reader skips values, but never the last one", async () => {
  const latest = createLatest<number>();
  const read: number[] = [];
  const reading = (async () => {
    for await (const value of latest) {
      read.push(value);
      await turn();
      await turn();
    }
  })();
  for (let value = 1; value <= 100; value++) {
    latest.push(value);
    if (value % 10 === 0) {
      await turn();
    }
  }
  latest.end();
  await reading;
  expect(read.length).toBeLessThan(100);
  expect(read).toEqual(read.toSorted((a, b) => a - b));
  expect(read.at(-1)).toBe(100);
});

test("a late reader gets the newest value", async () => {
  const latest = createLatest<number>();
  latest.push(1);
  latest.push(2);
  latest.end();
  expect(await Array.fromAsync(latest)).toEqual([2]);
});

test("a reader gets undefined values", async () => {
  const latest = createLatest<undefined | null | 0>();
  const read = Array.fromAsync(latest);
  for (const value of [undefined, null, 0] as const) {
    latest.push(value);
    await turn();
  }
  latest.end();
  expect(await read).toEqual([undefined, null, 0]);
});

test("a reader of an empty channel gets nothing", async () => {
  const latest = createLatest<number>();
  const read = Array.fromAsync(latest);
  latest.end();
  expect(await read).toEqual([]);
});

test("a reader may stop early", async () => {
  const latest = createLatest<number>();
  latest.push(1);
  const reader = latest[Symbol.asyncIterator]();
  expect(await reader.next()).toEqual({ done: false, value: 1 });
  await reader.return?.();
  latest.push(2);
  latest.end();
});

test("a failure wakes a waiting reader", async () => {
  const latest = createLatest<number>();
  const read = Array.fromAsync(latest);
  await turn();
  latest.fail(new Error("gone"));
  await expect(read).rejects.toThrow("gone");
});

test("a failure comes before an unread value, and before the end", async () => {
  const latest = createLatest<number>();
  latest.push(1);
  latest.end();
  latest.fail(new Error("gone"));
  await expect(Array.fromAsync(latest)).rejects.toThrow("gone");
});

test("the first failure is kept", async () => {
  const latest = createLatest<number>();
  latest.fail(new Error("first"));
  latest.fail(new Error("second"));
  latest.push(1);
  await expect(Array.fromAsync(latest)).rejects.toThrow("first");
});

test("a failure may be undefined, as an abort reason may be", async () => {
  const latest = createLatest<number>();
  latest.fail(undefined);
  await expect(Array.fromAsync(latest)).rejects.toBeUndefined();
});

test("a failure without a reader causes no unhandled rejection", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  onTestFinished(() => void process.off("unhandledRejection", unhandled));
  createLatest<number>().fail(new Error("unread"));
  await turn();
  expect(unhandled).not.toHaveBeenCalled();
});
