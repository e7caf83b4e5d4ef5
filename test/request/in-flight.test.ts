import { expect, test } from "vitest";
import { createInFlight } from "../../src/request/in-flight.ts";

type InFlight = ReturnType<typeof createInFlight>;

/** Takes as many calls for `holder` as the limits allow. Returns their number. */
function takeAll(calls: InFlight, holder: string, maxOfHolder: number): number {
  let count = 0;
  while (!calls.fullFor(holder, maxOfHolder)) {
    calls.take(holder);
    count++;
  }
  return count;
}

const shareOfFree = 1 / 20;

test.each([256, 1000])("an address alone may have all %i calls of its limit", (own) => {
  const calls = createInFlight({ max: 5000, shareOfFree });
  expect(takeAll(calls, "a", own)).toBe(own);
  expect(calls.fullFor("a", own)).toEqual({ of: "holder", max: own });
});

test("when more than half of all calls are in use, each address has a share of the free calls", () => {
  const calls = createInFlight({ max: 5000, shareOfFree });
  const counts = Array.from({ length: 60 }, (_, index) => takeAll(calls, `${index}`, 256));
  expect(counts.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 256));
  // The tenth address reaches the half of the calls.
  expect(counts.slice(10).every((count) => count <= 125)).toBe(true);
  expect(takeAll(calls, "another", 256)).toBeGreaterThan(5);
});

test("without a limit for each address, an address may have all calls", () => {
  const calls = createInFlight({ max: 5000, shareOfFree });
  expect(takeAll(calls, "a", Number.POSITIVE_INFINITY)).toBe(5000);
  expect(calls.fullFor("b", Number.POSITIVE_INFINITY)).toEqual({ of: "all", max: 5000 });
});

test("calls of nobody in particular count only towards the maximum of all calls", () => {
  const calls = createInFlight({ max: 2 });
  calls.take(undefined);
  expect(calls.fullFor(undefined, 1)).toBeUndefined();
  const last = calls.take(undefined);
  expect(calls.fullFor("a", 1)).toEqual({ of: "all", max: 2 });
  last[Symbol.dispose]();
  expect(calls.fullFor("a", 1)).toBeUndefined();
});

test("a call in flight that ends twice is given back only once", () => {
  const freed: string[] = [];
  const calls = createInFlight({ max: 3, onFreed: (holder) => freed.push(holder) });
  const [first] = [calls.take("a", 500), calls.take("a", 700), calls.take("b")];
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(freed).toEqual(["a"]);
  expect(calls.of("a")).toMatchObject([{ expectedMs: 700 }]);
  expect(calls.fullFor("a", 1)).toEqual({ of: "holder", max: 1 });
  calls.take("c");
  expect(calls.fullFor("d", 1)).toEqual({ of: "all", max: 3 });
});
