import { expect, test, vi } from "vitest";
import { describeWith } from "../support/needs.ts";
import { useCutOffCluster } from "./cut-off-cluster.ts";
import { grpcCaller, jsonCaller, nextQuestion, startTraffic } from "./traffic.ts";

describeWith(
  "haproxy",
  "redis",
  "namespaces",
  "root",
)("a node that is cut off", () => {
  const cluster = useCutOffCluster();
  const patience = { timeout: 60_000, interval: 50 };

  /** Fails unless every call was answered. */
  async function answerAllWhile(happen: (callsMore: (count: number) => Promise<void>) => Promise<void>) {
    using grpc = grpcCaller(cluster.url);
    const callers = [...Array.from({ length: 5 }, () => jsonCaller(cluster.url)), grpc, grpc];
    const traffic = startTraffic(callers, () => nextQuestion(8));
    const callsMore = async (count: number) => {
      const before = traffic.counts.calls;
      await vi.waitFor(() => expect(traffic.counts.calls).toBeGreaterThan(before + count), patience);
    };
    await callsMore(20);
    await happen(callsMore);
    await traffic.stop();
    expect(traffic.failures).toEqual([]);
  }

  test("no call fails when a node is cut off from the balancer: its calls are asked again elsewhere", async () => {
    const isTaken = async (isUp: boolean) =>
      vi.waitFor(async () => expect((await cluster.stateOfAway()).isUp).toBe(isUp), patience);
    await answerAllWhile(async (callsMore) => {
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

  test("no call fails when a node is cut off from Redis: it stays ready, says so, and recovers by itself", async () => {
    const readiness = async () => {
      const answer = await fetch(`${cluster.away.url}/readyz`);
      return [answer.status, await answer.json()];
    };
    const degraded = [200, { status: "ready", degraded: ["store"] }];
    const well = [200, { status: "ready" }];
    expect(await readiness()).toEqual(well);
    await answerAllWhile(async (callsMore) => {
      cluster.cut("redis");
      try {
        await vi.waitFor(async () => expect(await readiness()).toEqual(degraded), patience);
        await callsMore(20);
        expect(await readiness()).toEqual(degraded);
      } finally {
        cluster.mend("redis");
      }
      await vi.waitFor(async () => expect(await readiness()).toEqual(well), patience);
      await callsMore(20);
    });
  });
});
