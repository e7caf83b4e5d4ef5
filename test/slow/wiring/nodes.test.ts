import { expect, test } from "vitest";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { describeWith } from "../../support/needs.ts";
import { until, useRedis } from "../../support/redis.ts";
import { type RunningApp, useApp } from "../../support/running-app.ts";

interface Answer {
  readonly best_move: { readonly uci: string };
  readonly search: { readonly cached: boolean; readonly depth: number; readonly stop_reason: string };
}

async function ask({ url }: RunningApp, request: object): Promise<Answer> {
  const response = await fetch(`${url}/v1/eval`, {
    method: "POST",
    // An app that stops must not leave connections while the other apps still run.
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify(request),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

const patient = { operationMaxMs: 2000, connectMaxMs: 10_000, boundedCallMaxMs: 2000, announceMs: 300 };

describeWith("redis")("nodes with a shared Redis", () => {
  const redis = useRedis();
  const settings = {
    get KIBITZ_REDIS_URL() {
      return redis.url;
    },
  };
  const engines = [createEnginesInProcess(), createEnginesInProcess(), createEnginesInProcess()];
  const apps = engines.map((own) => useApp(settings, { engines: own, redis: patient }));
  const [one] = apps as [RunningApp];

  describeWith("redis")("one node with a different engine build", () => {
    const odd = createEnginesInProcess({ sha256: "f".repeat(64) });
    const oddApp = useApp(settings, { engines: odd, redis: patient });

    test("nodes with different builds of an engine do not share cached answers", async () => {
      const request = { fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", depth: 12 };
      await ask(one, request);
      expect((await ask(oddApp, request)).search.cached).toBe(false);
      expect(odd.begun).toBeGreaterThan(0);
    });
  });

  test("kibitz nodes lists each node with its slots and its running and waiting searches", async () => {
    const env = { KIBITZ_REDIS_URL: redis.url };
    const listed = await until(
      () => runKibitz(["nodes"], env),
      ({ stdout }) => stdout.split("\n").filter((line) => line.startsWith("http:")).length === 3,
    );
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/^ADDRESS +VERSION +SLOTS +BUSY +WAITING +UP\n/);
    // Nodes report their searches with a delay, so wait until no search of an earlier test is listed.
    const { stdout } = await until(
      () => runKibitz(["nodes", "--json"], env),
      ({ stdout }) => !/"(?:running|waiting)":[^0]/.test(stdout),
    );
    const nodes = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(nodes.map(({ address }) => address).toSorted()).toEqual(apps.map(({ url }) => url).toSorted());
    expect(nodes[0]).toEqual({
      id: expect.any(String),
      address: expect.any(String),
      version: expect.any(String),
      up_ms: expect.any(Number),
      slots: expect.any(Number),
      running: 0,
      waiting: 0,
    });
  });
});

describeWith("redis")("kibitz nodes", () => {
  const redis = useRedis(["--requirepass", "secret"]);

  test("kibitz nodes exits with 1 and an error message if Redis is not configured or cannot be used", async () => {
    const without = await runKibitz(["nodes"]);
    expect(without).toMatchObject({ code: 1, stdout: "" });
    expect(without.stderr).toContain("KIBITZ_REDIS_URL is not set");
    const locked = await runKibitz(["nodes"], { KIBITZ_REDIS_URL: redis.url });
    expect(locked.code).toBe(1);
    expect(locked.stderr).toContain("KIBITZ_REDIS_URL: Redis at 127.0.0.1");
    expect(locked.stderr).toContain("NOAUTH");
    const gone = await runKibitz(["nodes"], { KIBITZ_REDIS_URL: "redis://127.0.0.1:1" });
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain("ECONNREFUSED");
  });
});
