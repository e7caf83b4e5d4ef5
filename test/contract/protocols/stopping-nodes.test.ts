import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startEngines } from "../../../src/engine/engines.ts";
import { silentLog } from "../../../src/log/log.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { startApp } from "../../../src/wiring/app.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { describeWith } from "../../support/needs.ts";
import { neverLate } from "../../support/never-late.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { useRedis } from "../../support/redis.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { startFen } from "./cases/case.ts";
import { heads } from "./heads.ts";
import { post, type Reply } from "./post.ts";

/** The server stops searches `drainMs` after the beginning of its stop, and rejects the calls that still wait 2 s later. */
const drainMs = 300;
/** A search that lasts longer than a test on a busy machine. */
const long = { fen: startFen, depth: 30, movetime_ms: 60_000 };

/** Sends a request until the request waits: a request waits only after the server has begun the batch of its caller. */
async function waitingSingle(url: string) {
  for (;;) {
    let refused: Reply | undefined;
    const answer = post(`${url}/v1/eval`, long);
    answer.then(
      (reply) => {
        refused = reply;
      },
      () => {},
    );
    // If the server refused the request, the refusal would arrive before those of ten invalid requests, one after the other.
    for (let times = 0; times < 10 && refused === undefined; times++) {
      await post(`${url}/v1/eval`, { fen: "x" });
    }
    if (refused === undefined) {
      // Do not return the promise itself, because `await` would wait for the answer.
      return { answer };
    }
    expect(refused.body.code).toBe("concurrency_limited");
  }
}

describeWith("redis")("a stopping node", () => {
  const redis = useRedis();
  const folder = useTemporaryFolder();
  const plans = usePlansFile({
    id: "keyless",
    limits: { concurrent: 1, depth_max: 30, movetime_ms_max: 60_000, rates: [rateOf("minute", 1000, 60)] },
  });
  let prefix = "";
  beforeEach(() => {
    prefix = `stopping-${performance.now()}:`;
  });

  async function startNode(settings: Readonly<Record<string, string>> = {}) {
    const config = loadConfig({
      ...quickestSettings,
      KIBITZ_DATA_DIR: folder,
      KIBITZ_SLOTS: "1",
      KIBITZ_REDIS_URL: redis.url,
      KIBITZ_REDIS_PREFIX: prefix,
      ...settings,
    });
    const engines = createEnginesInProcess();
    const metrics = createMetrics("1.2.3");
    const watch = vi.spyOn(metrics, "watch");
    const { signal } = new AbortController();
    const opening = startEngines(
      { backends: [engines], defaultEngine: config.defaultEngine, memoryMaxBytes: 1e9, log: silentLog },
      signal,
    );
    const app = await startApp(config, silentLog, opening, {
      drainMs,
      answerMaxMs: patienceMs,
      lag: neverLate,
      metrics,
      redis: {
        operationMaxMs: 10_000,
        connectMaxMs: 10_000,
        boundedCallMaxMs: 10_000,
        // This process may be too busy to renew a claim of 1.2 s in time.
        claims: { leaseMs: patienceMs },
      },
    });
    onTestFinished(() => app.stop());
    const { waiters } = watch.mock.calls[0]?.[0] ?? {};
    return { app, url: app.url, engines, waiters: () => waiters?.() ?? { started: 0, joined: 0 } };
  }

  test("a node that stops while its calls wait for a search of another node answers each call over every protocol", async () => {
    const open = { KIBITZ_ACCESS: "open" };
    const [searching, waiting] = [await startNode(open), await startNode(open)];
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    fetch(`${searching.url}/v1/eval`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(long),
      signal: leaving.signal,
    }).catch(() => {});
    await vi.waitFor(() => expect(searching.engines.searching).toBe(1), patienceMs);
    const unary = heads.filter(({ name }) => !/stream|events/.test(name));
    const asked = unary.map(async ({ name, ask }) => [name, (await ask(waiting.url, long)).status] as const);
    const body = post(`${waiting.url}/v1/eval`, long);
    await vi.waitFor(() => {
      const { started, joined } = waiting.waiters();
      expect(started + joined).toBe(unary.length + 1);
    }, patienceMs);
    await waiting.app.stop();
    expect(waiting.engines.begun).toBe(0);
    expect(await Promise.all(asked)).toEqual(
      unary.map(({ name, ok }) => [name, ok === 0 ? 14 : 503] as const),
    );
    expect((await body).body).toMatchObject({ code: "shutting_down", next_action: "retry_later" });
    expect(searching.engines.searching).toBe(1);
  });

  test.each(["with Redis", "without Redis"])(
    "a node that stops while calls wait for a search of their own caller answers each call, %s",
    async (where) => {
      const access = { KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans };
      const here = await startNode({ ...access, ...(where === "without Redis" && { KIBITZ_REDIS_URL: "" }) });
      const elsewhere = where === "with Redis" ? await startNode(access) : here;
      const leaving = new AbortController();
      onTestFinished(() => leaving.abort());
      // This search has the only place of the caller. In memory, the engine of this node is stopped, but another call follows.
      fetch(`${elsewhere.url}/v1/eval`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(long),
        signal: leaving.signal,
      }).catch(() => {});
      await vi.waitFor(() => expect(elsewhere.engines.searching).toBe(1), patienceMs);
      const requests = Array.from({ length: 60 }, (_, index) => ({ ...long, multipv: 1 + (index % 5) }));
      const batch = post(`${here.url}/v1/eval/batch`, { requests });
      const single = await waitingSingle(here.url);
      await here.app.stop();
      const items = (await batch).body as unknown as readonly {
        readonly problem?: { readonly code: string };
      }[];
      expect(items).toHaveLength(60);
      expect(items.filter(({ problem }) => problem?.code === "shutting_down").length).toBeGreaterThan(20);
      const { status, body } = await single.answer;
      expect([status, body.code]).toEqual(where === "with Redis" ? [503, "shutting_down"] : [200, undefined]);
    },
  );
});
