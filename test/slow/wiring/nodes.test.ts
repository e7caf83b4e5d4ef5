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
  const response = await post(url, request, "application/json");
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

const post = (url: string, request: object, accept: string) =>
  fetch(`${url}/v1/eval`, {
    method: "POST",
    // An app that stops must not leave connections while the other apps still run.
    headers: { "content-type": "application/json", accept, connection: "close" },
    body: JSON.stringify(request),
  });

/** Each test has its own position, because Redis caches the answers of earlier tests. */
const fenOf = (number: number) => `4k3/8/8/8/8/8/4P3/4K3 w - - 0 ${number}`;

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
  const [one, other] = apps as [RunningApp, RunningApp];
  const begun = () => engines.reduce((sum, { begun: each }) => sum + each, 0);

  test("nodes with a shared Redis run one search for equal concurrent requests, but an equal stream gets a separate search", async () => {
    // The first request is slow, because it loads and compiles modules.
    await Promise.all(apps.map((app) => ask(app, { fen: fenOf(1), depth: 5 })));
    const before = begun();
    const request = { fen: fenOf(1), depth: 30, movetime_ms: 3000 };
    const first = ask(one, request);
    await until(() => begun() > before);
    const third = ask(apps[2] as RunningApp, request);
    const streamed = await post(other.url, request, "text/event-stream").then((response) => response.text());
    const [answer, waited] = await Promise.all([first, third]);
    // The two callers waited for different times.
    expect({ ...waited.search, queue_ms: 0 }).toEqual({ ...answer.search, queue_ms: 0 });
    expect(answer.search).toMatchObject({ depth: 19, stop_reason: "movetime", cached: false });
    expect(begun() - before).toBe(2);
    const states = [...streamed.matchAll(/^event: evaluation\ndata: (.*)$/gm)].map(([, data = ""]) =>
      JSON.parse(data),
    );
    expect(states.length).toBeGreaterThan(1);
    expect(states.at(-1)).toMatchObject({ search: { stop_reason: "movetime" } });
  });

  test("nodes with a shared Redis use cached answers of other nodes", async () => {
    const before = begun();
    const request = { fen: fenOf(2), depth: 12 };
    const found = await ask(one, request);
    const known = await until(
      () => ask(other, request),
      ({ search }) => search.cached,
    );
    expect(known.best_move).toEqual(found.best_move);
    expect(begun() - before).toBeLessThanOrEqual(2);
    expect(await ask(apps[2] as RunningApp, request)).toMatchObject({ search: { cached: true } });
  });

  test("nodes answer requests while their shared Redis hangs, and share cached answers again afterwards", async () => {
    redis.pause();
    try {
      const answers = await Promise.all(apps.map((app) => ask(app, { fen: fenOf(3), depth: 12 })));
      expect(answers.map(({ search }) => search.depth)).toEqual([12, 12, 12]);
    } finally {
      redis.resume();
    }
    let number = 4;
    await until(async () => {
      number++;
      await ask(one, { fen: fenOf(number), depth: 12 });
      return (await ask(other, { fen: fenOf(number), depth: 12 })).search.cached;
    });
  });

  describeWith("redis")("one node with a different engine build", () => {
    const odd = createEnginesInProcess({ sha256: "f".repeat(64) });
    const oddApp = useApp(settings, { engines: odd, redis: patient });

    test("nodes with different builds of an engine do not share cached answers", async () => {
      const request = { fen: fenOf(100), depth: 12 };
      await ask(one, request);
      expect((await ask(oddApp, request)).search.cached).toBe(false);
      expect(odd.begun).toBeGreaterThan(0);
    });

    test("nodes with different builds of an engine run separate searches for equal requests at the same time", async () => {
      const request = { fen: fenOf(101), depth: 30, movetime_ms: 2000 };
      const [before, oddBefore] = [begun(), odd.begun];
      const first = ask(one, request);
      await until(() => begun() > before);
      const [same, other] = await Promise.all([ask(apps[1] as RunningApp, request), ask(oddApp, request)]);
      await first;
      expect([begun() - before, odd.begun - oddBefore]).toEqual([1, 1]);
      expect([same, other]).toMatchObject([
        { search: { cached: false, stop_reason: "movetime" } },
        { search: { cached: false, stop_reason: "movetime" } },
      ]);
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
