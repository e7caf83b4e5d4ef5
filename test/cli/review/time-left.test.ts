import { expect, test } from "vitest";
import { createTimeLeft } from "../../../src/cli/review/time-left.ts";

test("the time left is estimated from the pace since the work began", () => {
  let now = 1000;
  const left = createTimeLeft(1000, () => now);
  expect(left.textAt(500)).toBe("");
  now += 60_000;
  expect(left.textAt(504)).toBe("");
  expect(left.textAt(600)).toBe(" (60 %, 4 min left)");
  now += 60_000;
  expect(left.textAt(999)).toBe(" (99 %, 1 s left)");
});

test("no time left is shown for an input of unknown size", () => {
  const left = createTimeLeft(0);
  expect([left.textAt(0), left.textAt(5000)]).toEqual(["", ""]);
});
