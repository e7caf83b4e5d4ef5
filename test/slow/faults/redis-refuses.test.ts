import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { heads } from "../../contract/protocols/heads.ts";
import { get } from "../../contract/protocols/post.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { describeWith } from "../../support/needs.ts";
import { patienceMs } from "../../support/patience.ts";
import { until, useRedis } from "../../support/redis.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

describeWith("redis")("a node whose Redis refuses commands", () => {
  const folder = useTemporaryFolder();
  const redis = useRedis(["--dir", folder, "--dbfilename", "taken.rdb"]);
  const metrics = createMetrics("1.2.3");
  const app = useApp(
    {
      KIBITZ_ACCESS: "public",
      get KIBITZ_REDIS_URL() {
        return redis.url;
      },
    },
    {
      engines: createEnginesInProcess(),
      metrics,
      redis: { heartbeatMs: 200, announceMs: 100, operationMaxMs: patienceMs, connectMaxMs: patienceMs },
    },
  );
  const operate = (...words: readonly string[]) =>
    execFileSync("redis-cli", ["-p", String(redis.port), ...words], { stdio: "pipe", encoding: "utf8" });
  const readiness = async () => (await get(`${app.url}/readyz`)).body;
  const degradedMetric = async () =>
    /^kibitz_degraded\{part="store"\} (\d)$/m.exec(await metrics.print())?.[1];
  const lines = (word: string) =>
    app.logged.map((line) => JSON.stringify(line)).filter((line) => line.includes(`"message":"${word}:`));

  test.each([
    ["is full", [["config", "set", "maxmemory", "1"]], [["config", "set", "maxmemory", "0"]], "OOM"],
    ["has become a replica", [["replicaof", "127.0.0.1", "1"]], [["replicaof", "no", "one"]], "READONLY"],
    [
      "cannot save its data",
      [["config", "set", "save", "3600 1"], ["set", "some", "thing"], ["bgsave"]],
      [["config", "set", "save", ""]],
      "MISCONF",
    ],
    [
      "has too few replicas",
      [["config", "set", "min-replicas-to-write", "1"]],
      [["config", "set", "min-replicas-to-write", "0"]],
      "NOREPLICAS",
    ],
    [
      "no longer lets its user write",
      [["acl", "setuser", "default", "-set"]],
      [["acl", "setuser", "default", "+@all"]],
      "NOPERM",
    ],
  ])(
    "a node whose Redis %s stays ready, answers requests, reports the degradation with its reason, and recovers",
    async (_, spoil, mend, why) => {
      const [degradedBefore, recoveredBefore] = [
        lines("degraded").length,
        lines("recovered").length,
      ] as const;
      expect(await readiness()).toEqual({ status: "ready" });
      // Redis cannot save its data, because a folder has the name of its data file.
      mkdirSync(join(folder, "taken.rdb"), { recursive: true });
      for (const words of spoil) {
        operate(...words);
      }
      await until(async () => (await readiness()).degraded !== undefined, Boolean, patienceMs);
      expect(await readiness()).toEqual({ status: "ready", degraded: ["store"] });
      expect(await degradedMetric()).toBe("1");
      for (const kind of heads) {
        const { status } = await kind.ask(app.url, { fen: startFen, depth: 1 });
        expect([kind.name, status]).toEqual([kind.name, kind.ok]);
      }
      // The node stays degraded, and logs it only once.
      await sleep(700);
      expect(await readiness()).toEqual({ status: "ready", degraded: ["store"] });
      for (const words of mend) {
        operate(...words);
      }
      await until(async () => (await readiness()).degraded === undefined, Boolean, patienceMs);
      expect(await degradedMetric()).toBe("0");
      expect(lines("degraded").slice(degradedBefore)).toEqual([expect.stringContaining(why)]);
      expect(lines("recovered")).toHaveLength(recoveredBefore + 1);
    },
  );

  test("a node whose Redis user may not run one of the commands answers requests, and logs the missing permission once", async () => {
    const refusals = () =>
      app.logged
        .map((line) => JSON.stringify(line))
        .filter((line) => line.includes("Redis refuses a command"));
    operate("acl", "setuser", "default", "-zadd");
    for (let count = 0; count < 2; count++) {
      for (const kind of heads) {
        const { status } = await kind.ask(app.url, { fen: startFen, depth: 1 });
        expect([kind.name, status]).toEqual([kind.name, kind.ok]);
      }
    }
    await until(() => refusals().length > 0, Boolean, patienceMs);
    operate("acl", "setuser", "default", "+@all");
    expect(refusals()).toEqual([expect.stringMatching(/can't run this command|no permissions/)]);
  });

  test("metrics count the Redis operations, their duration, and the commands that Redis refused", async () => {
    for (const kind of heads) {
      await kind.ask(app.url, { fen: startFen, depth: 1 });
    }
    const text = await metrics.print();
    expect(text).toMatch(
      /^kibitz_redis_operation_duration_seconds_count\{operation="announce_node"\} [1-9]/m,
    );
    expect(text).toMatch(/^kibitz_redis_operation_duration_seconds_count\{operation="enter"\} [1-9]/m);
    for (const reason of ["oom", "readonly", "misconf", "noreplicas", "noperm"]) {
      expect(text).toMatch(
        new RegExp(
          `^kibitz_redis_operation_errors_total\\{operation="\\w+",reason="${reason}"\\} [1-9]`,
          "m",
        ),
      );
    }
    expect(text).not.toMatch(/operation="other"/);
  });
});
