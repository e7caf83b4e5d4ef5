import { describe, expect, test } from "vitest";
import { createMetrics, describeMetrics } from "../../src/metrics/metrics.ts";

const call = {
  protocol: "json",
  method: "Evaluate",
  code: "ok",
  seconds: 0.2,
  traceparent: undefined,
} as const;

/** Returns the sample lines of a metric, without its HELP and TYPE lines. */
async function seriesOf(metrics: ReturnType<typeof createMetrics>, family: string) {
  const lines = (await metrics.print()).split("\n");
  return lines.filter((line) => new RegExp(`^${family}(_bucket|_sum|_count)?[ {]`).test(line));
}

describe("metrics", () => {
  test("metrics count requests by protocol, method and code, and refusals by code", async () => {
    const metrics = createMetrics("1.2.3");
    metrics.meter.call(call);
    metrics.meter.call(call);
    metrics.meter.call({ ...call, code: "canceled" });
    metrics.meter.call({ ...call, protocol: "grpc", method: undefined, code: "invalid_key" });
    metrics.meter.call({ ...call, protocol: "mcp", code: "rate_limited", limit: "keyless/minute" });
    expect(await seriesOf(metrics, "kibitz_requests_total")).toEqual([
      'kibitz_requests_total{protocol="json",method="Evaluate",code="ok"} 2',
      'kibitz_requests_total{protocol="json",method="Evaluate",code="canceled"} 1',
      'kibitz_requests_total{protocol="grpc",method="none",code="invalid_key"} 1',
      'kibitz_requests_total{protocol="mcp",method="Evaluate",code="rate_limited"} 1',
    ]);
    expect(await seriesOf(metrics, "kibitz_refusals_total")).toEqual([
      'kibitz_refusals_total{code="invalid_key"} 1',
      'kibitz_refusals_total{code="rate_limited"} 1',
    ]);
    expect(await seriesOf(metrics, "kibitz_limited_total")).toEqual([
      'kibitz_limited_total{limit="keyless/minute"} 1',
    ]);
    expect(await seriesOf(metrics, "kibitz_build_info")).toEqual(['kibitz_build_info{version="1.2.3"} 1']);
  });

  test("metrics count Redis errors by reason, and exclude the duration of commands that were not sent", async () => {
    const metrics = createMetrics("1.2.3");
    metrics.meter.redisOperation({ name: "get", seconds: 0.003, failure: undefined });
    metrics.meter.redisOperation({ name: "get", seconds: 0.5, failure: "timeout" });
    metrics.meter.redisOperation({ name: "get", seconds: 0, failure: "away" });
    expect(await seriesOf(metrics, "kibitz_redis_operation_errors_total")).toEqual([
      'kibitz_redis_operation_errors_total{operation="get",reason="timeout"} 1',
      'kibitz_redis_operation_errors_total{operation="get",reason="away"} 1',
    ]);
    const lines = await seriesOf(metrics, "kibitz_redis_operation_duration_seconds");
    expect(lines).toContain('kibitz_redis_operation_duration_seconds_count{operation="get"} 2');
    expect(lines).toContain('kibitz_redis_operation_duration_seconds_bucket{le="0.01",operation="get"} 1');
  });

  test("reading the metrics several times does not count the totals of a module twice", async () => {
    const metrics = createMetrics("1.2.3");
    let looks = 0;
    metrics.watch({
      queue: () => ({ slots: 2, running: 1, waiting: 3, started: ++looks, refused: 2, expectedWaitMs: 1 }),
      waiters: () => ({ started: 5, joined: looks }),
      keys: () => ({ hits: 100, misses: 4 }),
    });
    await metrics.print();
    await metrics.print();
    const counted = async (family: string) =>
      (await seriesOf(metrics, family)).map((line) => line.split("{")[1]);
    expect(await counted("kibitz_queue_entries_total")).toEqual([
      'outcome="admitted"} 3',
      'outcome="refused"} 2',
    ]);
    expect(await counted("kibitz_search_askers_total")).toEqual(['search="begun"} 5', 'search="joined"} 4']);
    expect(await counted("kibitz_key_look_ups_total")).toEqual(['from="memory"} 100', 'from="store"} 4']);
  });

  test("metrics name the trace of a request as an exemplar only if the trace is sampled", async () => {
    const metrics = createMetrics("1.2.3");
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const kept = `00-${trace}-b7ad6b7169203331-01`;
    metrics.meter.call({ ...call, traceparent: kept });
    metrics.meter.call({ ...call, seconds: 2, traceparent: kept.replace(/01$/, "00") });
    const exemplars = (await metrics.print("openmetrics"))
      .split("\n")
      .filter((line) => line.includes("trace_id"));
    expect(exemplars).toEqual([
      expect.stringMatching(
        new RegExp(
          `^kibitz_request_duration_seconds_bucket\\{le="0.25",protocol="json"\\} 1 # \\{trace_id="${trace}",span_id="b7ad6b7169203331"\\} 0.2 \\d`,
        ),
      ),
    ]);
  });

  test("metrics contain the server's current time, so that Prometheus can detect a wrong clock", async () => {
    const before = Date.now() / 1000;
    const [line = ""] = await seriesOf(createMetrics("1.2.3"), "kibitz_clock_seconds");
    const seconds = Number(line.split(" ")[1]);
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(Date.now() / 1000);
  });

  test("metrics contain the nodes, the duration, the depth and the waiting time of searches", async () => {
    const metrics = createMetrics("1.2.3");
    const counters = { nodes: 500, timeMs: 30 };
    metrics.meter.search({
      path: "wasm",
      queueMs: 1500,
      snapshot: { depth: 12, counters },
      endedBy: "depth",
    });
    expect(await seriesOf(metrics, "kibitz_search_nodes_total")).toEqual([
      'kibitz_search_nodes_total{path="wasm"} 500',
    ]);
    const sumOf = async (family: string) =>
      (await seriesOf(metrics, family)).find((line) => line.startsWith(`${family}_sum`))?.split(" ")[1];
    expect(await sumOf("kibitz_search_duration_seconds")).toBe("0.03");
    expect(await sumOf("kibitz_queue_wait_seconds")).toBe("1.5");
    expect(await sumOf("kibitz_search_depth_plies")).toBe("12");
  });

  test("metrics contain the current state of the queue, and do not contain stopped engines", async () => {
    const metrics = createMetrics("1.2.3");
    const build = { id: "stockfish-19", path: "wasm" };
    let states = ["idle", "idle", "busy"];
    metrics.watch({
      queue: () => ({ slots: 2, running: 1, waiting: 3, started: 7, refused: 2, expectedWaitMs: 2500 }),
      engines: () => [{ build, available: true, states, memoryBytes: 5e8 }],
      degraded: () => ({ store: true, engines: false }),
    });
    await metrics.print();
    states = ["busy"];
    expect(await seriesOf(metrics, "kibitz_queue_expected_wait_seconds")).toEqual([
      "kibitz_queue_expected_wait_seconds 2.5",
    ]);
    expect(await seriesOf(metrics, "kibitz_engines")).toEqual([
      'kibitz_engines{engine="stockfish-19",path="wasm",state="busy"} 1',
    ]);
    expect(await seriesOf(metrics, "kibitz_degraded")).toEqual([
      'kibitz_degraded{part="store"} 1',
      'kibitz_degraded{part="engines"} 0',
    ]);
  });

  test("reading the metrics fails if a module throws an error", async () => {
    const metrics = createMetrics("1.2.3");
    metrics.watch({
      engines: () => {
        throw new Error("a reader failed");
      },
    });
    await expect(Promise.resolve().then(() => metrics.print().catch(() => "caught"))).resolves.toBe("caught");
  });

  test("names of metrics follow the Prometheus conventions", () => {
    for (const { name, type } of describeMetrics().filter((one) => one.name.startsWith("kibitz_"))) {
      expect(name).toMatch(/^[a-z_]+$/);
      expect(name.endsWith("_total"), name).toBe(type === "counter");
    }
  });
});
