import { expect, test } from "vitest";
import { createHeapCheck } from "../../src/thread/overload.ts";

test("the heap is nearly full while more than 80 % of its limit is in use, and is measured again after 10 ms", () => {
  const use = { used_heap_size: 0, heap_size_limit: 1000 };
  let now = 0;
  let measured = 0;
  const measure = () => {
    measured++;
    return use;
  };
  const isFull = createHeapCheck(measure, () => now);
  expect(isFull()).toBe(false);
  use.used_heap_size = 801;
  now = 9;
  expect([isFull(), measured]).toEqual([false, 1]);
  now = 10;
  expect([isFull(), measured]).toEqual([true, 2]);
  use.used_heap_size = 800;
  now = 20;
  expect(isFull()).toBe(false);
});

test("the heap of the test process is not nearly full", () => {
  expect(createHeapCheck()()).toBe(false);
});
