import { expect, test } from "vitest";
import { createCountLimit } from "../../src/http/listener/count-limit.ts";
import { silentLog } from "../../src/log/log.ts";

/** Takes as many calls for `holder` as the limit allows. Returns their number. */
function takeAll(take: ReturnType<typeof createCountLimit>, holder: string): number {
  let count = 0;
  while (typeof take(holder) === "function") {
    count++;
  }
  return count;
}

const shareOfFree = 1 / 20;

test.each([256, 1000])("an address alone may have all %i calls of its limit", (own) => {
  const take = createCountLimit("calls", 5000, () => own, silentLog, shareOfFree);
  expect(takeAll(take, "a")).toBe(own);
});

test("when more than half of all calls are in use, each address has a share of the free calls", () => {
  const take = createCountLimit("calls", 5000, () => 256, silentLog, shareOfFree);
  const counts = Array.from({ length: 60 }, (_, index) => takeAll(take, `${index}`));
  expect(counts.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 256));
  // The tenth address reaches the half of the calls.
  expect(counts.slice(10).every((count) => count <= 125)).toBe(true);
  expect(takeAll(take, "another")).toBeGreaterThan(5);
});

test("without a limit for each address, an address may have all calls", () => {
  const take = createCountLimit("calls", 5000, () => Number.POSITIVE_INFINITY, silentLog, shareOfFree);
  expect(takeAll(take, "a")).toBe(5000);
});
