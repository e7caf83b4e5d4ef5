import { expect, test } from "vitest";
import type { SearchWithRetry } from "../../../src/engine/search-with-retry.ts";
import { analyzerOf } from "../../analysis/analyzer-of.ts";
import { doneOf, validated } from "../../analysis/made-up.ts";
import { collectedHeapBytes } from "../../support/heap.ts";

const { build } = validated();

test("finished analyses leave nothing in memory, no matter how many other analyses are still running", async () => {
  const search: SearchWithRetry = async () => {
    await new Promise(setImmediate);
    return doneOf();
  };
  const { analyze } = analyzerOf(search, 4, 0);
  let nodes = 0;
  const repeat = async (times: number) => {
    const callers = Array.from({ length: 8 }, async () => {
      for (let at = 0; at < times / 8; at++) {
        await analyze(validated({ build, nodes: ++nodes }), "somebody", new AbortController().signal);
      }
    });
    await Promise.all(callers);
  };
  await repeat(1000);
  const before = await collectedHeapBytes();
  await repeat(4000);
  // A leak of one promise for each analysis would exceed this limit.
  expect((await collectedHeapBytes()) - before).toBeLessThan(300_000);
});
