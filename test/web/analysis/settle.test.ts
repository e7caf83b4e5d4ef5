import { expect, test } from "vitest";
import { settleMsAfter } from "../../../web/src/analysis/settle.ts";

test("a position is asked about after 600 ms, and later after many calls in a minute, so that a minute never has 60", () => {
  const calls: number[] = [];
  // Somebody looks at each position until it is asked about.
  for (let now = 0; now < 180_000; ) {
    now += settleMsAfter(calls, now);
    calls.push(now);
  }
  expect(calls.slice(0, 2)).toEqual([600, 1200]);
  for (const at of calls) {
    expect(calls.filter((other) => other >= at && other < at + 60_000).length).toBeLessThan(60);
  }
});
