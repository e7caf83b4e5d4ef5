import { expect, test } from "vitest";
import { createTimeLeft } from "../../../src/cli/review/time-left.ts";

test("says how much is done and how long the rest takes, by the pace since the work began", () => {
  let now = 1000;
  const left = createTimeLeft(1000, () => now);
  expect(left.textAt(500)).toBe("");
  now += 60_000;
  expect(left.textAt(504)).toBe("");
  expect(left.textAt(600)).toBe(" (60 %, 4 min left)");
  now += 60_000;
  expect(left.textAt(999)).toBe(" (99 %, 1 s left)");
});

test("says nothing of an input whose size nobody knows", () => {
  const left = createTimeLeft(0);
  expect([left.textAt(0), left.textAt(5000)]).toEqual(["", ""]);
});
