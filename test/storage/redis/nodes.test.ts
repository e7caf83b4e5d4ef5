import { expect, test } from "vitest";
import { joinNodes, type NodeReport, readNodes } from "../../../src/storage/redis/nodes.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useConnections, useRedis } from "../../support/redis.ts";

const reportOf = (address: string): Omit<NodeReport, "id"> => ({
  address,
  version: "0.1.0",
  upMs: 1000,
  slots: 2,
  running: 1,
  waiting: 0,
});

describeWith("redis")("nodes", () => {
  const redis = useRedis();
  const connect = useConnections(redis);
  const quick = { operationMaxMs: 1000, connectMaxMs: 10_000, heartbeatMs: 50 };
  /** The interval of reports. A node counts as stopped after three intervals without a report. */
  const everyMs = 300;

  test("nodes see each other's reports through Redis, and notice when a node stops", async () => {
    const [here, there] = [await connect("left:"), await connect("left:")];
    await using one = joinNodes(here, { id: "one", everyMs });
    one.announce(() => reportOf("http://a:1"));
    {
      await using other = joinNodes(there, { id: "other", everyMs });
      await until(() => one.count === 2 && other.count === 2);
      // A new node is counted immediately, and listed after its first report.
      const seen = await until(
        () => readNodes(here),
        (reports) => reports.length > 0,
      );
      expect(seen).toEqual([{ id: "one", ...reportOf("http://a:1") }]);
      other.announce(() => reportOf("http://b:1"));
      await until(
        () => readNodes(here),
        (reports) => reports.length === 2,
      );
    }
    expect(await readNodes(here)).toHaveLength(1);
    await until(() => one.count === 1);
  });

  test("a node whose report fails stays in the list, and is listed with its next report", async () => {
    const redis = await connect("failing:");
    await using node = joinNodes(redis, { id: "one", everyMs: 20 });
    let reports = 0;
    node.announce(() => {
      if (++reports < 3) {
        throw new Error("no report");
      }
      return reportOf("http://a:1");
    });
    const seen = await until(
      () => readNodes(redis),
      (listed) => listed.length > 0,
    );
    expect(seen).toEqual([{ id: "one", ...reportOf("http://a:1") }]);
  });

  test("nodes notice through Redis that a node was killed, and remember the number of nodes while Redis is down", async () => {
    const [here, there] = [await connect("gone:", quick), await connect("gone:")];
    await using one = joinNodes(here, { id: "one", everyMs });
    joinNodes(there, { id: "other", everyMs }).announce(() => reportOf("http://b:1"));
    await until(() => one.count === 2);
    redis.pause();
    try {
      await until(() => here.health.kind === "down");
      expect(one.count).toBe(2);
    } finally {
      redis.resume();
    }
    there[Symbol.dispose]();
    await until(() => one.count === 1);
    expect(await until(() => readNodes(here).catch(() => undefined), Boolean)).toEqual([]);
    expect(await here.ask("PTTL", ["nodes"])).toBeLessThanOrEqual(900);
  });
});
