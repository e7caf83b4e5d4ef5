import { expect, test } from "vitest";
import { validateOptions } from "../../src/analysis/validate-options.ts";
import { options } from "../engine/build-of.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";

test("6,000 unknown options are refused in the time of 20: a name is suggested for 20 of them, not for all", async () => {
  const given = Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`n${index}`, 0]));
  const { medianMs, worstMs } = await timesOf(20, async () => {
    const stopwatch = startStopwatch();
    expect(() => validateOptions(given, options)).toThrow();
    return stopwatch();
  });
  // Suggestions for all of them take 100 ms.
  expect(medianMs).toBeLessThan(10);
  expect(worstMs).toBeLessThan(60);
});
