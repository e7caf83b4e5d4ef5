import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { until, useRedis } from "../support/redis.ts";
import { startStopwatch } from "../support/stopwatch.ts";
import { validated } from "./made-up.ts";
import { openNode } from "./open-node.ts";

const never = new AbortController().signal;

describeWith("redis")("two nodes with one Redis", () => {
  const redis = useRedis();

  test("if a searching node loses its connection, a waiting node starts the search within 2 s, in 20 of 20 attempts", async () => {
    const tookMs = await Promise.all(
      Array.from({ length: 20 }, async (_, round) => {
        const options = { url: redis.url, prefix: `round-${round}:`, askMaxMs: 10_000, claimTimes: {} };
        const [holds, waits] = [await openNode(options), await openNode(options)];
        holds.analyzer.analyze(validated(), "caller", never).catch(() => {});
        await until(() => holds.searches.length === 1);
        const answer = waits.analyzer.analyze(validated(), "caller", never);
        await until(() => waits.waits() === 1);
        holds.redis[Symbol.dispose]();
        const elapsedMs = startStopwatch();
        const own = await until(() => waits.searches[0], Boolean);
        const ms = elapsedMs();
        own?.answer();
        await answer;
        return ms;
      }),
    );
    const sorted = tookMs.toSorted((a, b) => a - b);
    // Half of the takeovers need the lease of 1.2 s and one poll interval.
    expect(sorted[10], "the median").toBeLessThan(1600);
    expect(sorted.at(-1), "the worst").toBeLessThan(2000);
  });
});
