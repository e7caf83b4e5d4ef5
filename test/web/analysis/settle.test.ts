import { expect, test } from "vitest";
import { settleMsAfter } from "../../../web/src/analysis/settle.ts";

test("the page waits 600 ms before a search, and longer after many searches, to stay below 60 searches a minute", () => {
  const calls: number[] = [];
  // Every position stays on the board until the page searches it.
  for (let now = 0; now < 180_000; ) {
    now += settleMsAfter(calls, now);
    calls.push(now);
  }
  expect(calls.slice(0, 2)).toEqual([600, 1200]);
  for (const at of calls) {
    expect(calls.filter((other) => other >= at && other < at + 60_000).length).toBeLessThan(60);
  }
});
