import { expect, test, vi } from "vitest";
import { describeCutOff, useCutOffCluster } from "./cut-off-cluster.ts";
import { answerAllWhile, patience } from "./traffic-while-cut-off.ts";

describeCutOff("a node that is cut off", () => {
  const cluster = useCutOffCluster();

  test("no call fails when a node is cut off from the balancer: its calls are asked again elsewhere", async () => {
    const isTaken = async (isUp: boolean) =>
      vi.waitFor(async () => expect((await cluster.stateOfAway()).isUp).toBe(isUp), patience);
    await answerAllWhile(cluster.url, async (callsMore) => {
      cluster.cut("balancer");
      try {
        expect((await cluster.stateOfAway()).now).toBeGreaterThan(0);
        await isTaken(false);
        // The cable stays cut: only another node can answer these calls.
        await vi.waitFor(async () => expect((await cluster.stateOfAway()).now).toBe(0), patience);
      } finally {
        cluster.mend("balancer");
      }
      await isTaken(true);
      await callsMore(20);
    });
  });
});
