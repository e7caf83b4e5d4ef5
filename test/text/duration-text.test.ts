import { expect, test } from "vitest";
import { durationText } from "../../src/text/duration-text.ts";

test.each([
  [1, "1 s"],
  [44.2, "45 s"],
  [120, "120 s"],
  [121, "3 min"],
  [3540, "59 min"],
  [3541, "1 h"],
  [3601, "1 h 1 min"],
  [86_110, "23 h 56 min"],
  [86_400, "24 h"],
])("a duration of %d seconds is shown as %s, rounded up", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
