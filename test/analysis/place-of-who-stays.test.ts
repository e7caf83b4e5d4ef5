import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { until, useRedis } from "../support/redis.ts";
import { judgedOf } from "./made-up.ts";
import { openNode } from "./open-node.ts";

const never = new AbortController().signal;

describeWith("redis")("searches of a node that shares a Redis", () => {
  const redis = useRedis();

  // Before they queue, they ask Redis: so long others can join who are in the queue only afterwards.
  test.each([
    ["the first caller leaves", ["first", "second"], 0],
    ["the first caller leaves, of one caller", ["caller", "caller"], 0],
    ["the joined caller leaves, of one caller", ["caller", "caller"], 1],
  ] as const)(
    "a search of nodes with one Redis keeps the queue position of the caller who stays, if %s",
    async (_, flows, leaver) => {
      const node = await openNode({
        id: "node",
        url: redis.url,
        prefix: `${leaver} ${flows.join()}:`,
        askMaxMs: 10_000,
      });
      const busy = node.analyzer.analyze(judgedOf({ depth: 12 }), "busy", never);
      const own = await until(() => node.searches[0], Boolean);
      const leaving = new AbortController();
      const asked = flows.map((flow, index) =>
        node.analyzer.analyze(judgedOf(), flow, index === leaver ? leaving.signal : never),
      );
      await until(() => node.scheduler.counters.waiting === 1);
      leaving.abort(new Error("gone"));
      await expect(asked[leaver]).rejects.toThrow("gone");
      own?.answer();
      await busy;
      (await until(() => node.searches[1], Boolean))?.answer();
      expect((await asked[1 - leaver])?.depth).toBe(14);
    },
  );
});
