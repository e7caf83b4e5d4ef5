import { expect, test, vi } from "vitest";
import { describeCutOff, useCutOffCluster } from "./cut-off-cluster.ts";
import { answerAllWhile, patience } from "./traffic-while-cut-off.ts";

describeCutOff("a node that is cut off", () => {
  const cluster = useCutOffCluster();

  test("no call fails when a node loses its connection to the balancer, because the calls are retried at other nodes", async () => {
    const untilUp = async (isUp: boolean) =>
      vi.waitFor(async () => expect((await cluster.stateOfAway()).isUp).toBe(isUp), patience);
    await answerAllWhile(cluster.url, async (callsMore) => {
      cluster.cut("balancer");
      try {
        expect((await cluster.stateOfAway()).now).toBeGreaterThan(0);
        await untilUp(false);
        // The cable is still cut, so only another node can answer these calls.
        await vi.waitFor(async () => expect((await cluster.stateOfAway()).now).toBe(0), patience);
      } finally {
        cluster.repair("balancer");
      }
      await untilUp(true);
      await callsMore(20);
    });
  });
});
