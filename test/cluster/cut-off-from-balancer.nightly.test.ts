import { expect, test, vi } from "vitest";
import { describeCutOff, useCutOffCluster } from "./cut-off-cluster.ts";
import { answerAllWhile, patience } from "./traffic-while-cut-off.ts";

describeCutOff("a node that is cut off", () => {
  const cluster = useCutOffCluster();

  test("no call fails when a node loses its connection to Redis, and the node reports the outage and recovers", async () => {
    const readiness = async () => {
      const answer = await fetch(`${cluster.away.url}/readyz`);
      return [answer.status, await answer.json()];
    };
    const degraded = [200, { status: "ready", degraded: ["store"] }];
    const well = [200, { status: "ready" }];
    expect(await readiness()).toEqual(well);
    await answerAllWhile(cluster.url, async (callsMore) => {
      cluster.cut("redis");
      try {
        await vi.waitFor(async () => expect(await readiness()).toEqual(degraded), patience);
        await callsMore(20);
        expect(await readiness()).toEqual(degraded);
      } finally {
        cluster.repair("redis");
      }
      await vi.waitFor(async () => expect(await readiness()).toEqual(well), patience);
      await callsMore(20);
    });
  });
});
