import { expect, test } from "vitest";
import { go } from "../clients/languages/go.ts";
import { describeWith } from "../support/needs.ts";
import { useCluster } from "./cluster-under-load.ts";
import { killUnderStreams } from "./watch-example.ts";

describeWith(
  "redis",
  "haproxy",
  "go",
)("streams behind HAProxy", () => {
  const loaded = useCluster([go]);

  test("the stream of each of 20 clients continues within 2 s after its node is killed", async () => {
    const clients = Array.from({ length: 10 }, () => go.examples).flat();
    const { backMs } = await killUnderStreams(loaded, clients);
    const sorted = backMs.toSorted((a, b) => a - b);
    expect(sorted).toHaveLength(20);
    expect(sorted[10], "the median").toBeLessThan(1000);
    expect(sorted.at(-1), "the worst").toBeLessThan(2000);
  });
});
