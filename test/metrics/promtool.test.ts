import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { describeWith } from "../support/needs.ts";

describeWith("prometheus")("the metrics as text", () => {
  test("promtool check metrics reports no problem for the metrics", async () => {
    const { meter, watch, print } = createMetrics("1.2.3");
    const build = { id: "stockfish-19", path: "wasm" } as const;
    watch({
      queue: () => ({ slots: 2, running: 1, waiting: 0, started: 5, refused: 1, expectedWaitMs: 20 }),
      engines: () => [{ build, available: true, states: ["idle"], memoryBytes: 1e8 }],
      waiters: () => ({ started: 3, joined: 1 }),
      keys: () => ({ hits: 7, misses: 1 }),
      degraded: () => ({ store: false }),
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    meter.call({ protocol: "json", method: "Evaluate", code: "ok", seconds: 0.2, traceparent });
    meter.call({
      protocol: "mcp",
      method: undefined,
      code: "rate_limited",
      limit: "keyless/minute",
      seconds: 1,
      traceparent,
    });
    meter.lookUp("memory");
    meter.lookUp(undefined);
    meter.redisOperation({ name: "get", seconds: 0.001, failure: undefined });
    meter.engineStarted(build, 1.5);
    meter.engineLost(build, "exited");
    // The text format comes first, because prom-client renames counters when it prints OpenMetrics.
    expect(await print("openmetrics")).toContain("# {trace_id=");
    expect(checkOf(await print("text"))).toBe("");
  });
});

/** Returns the problems that promtool reports. Throws if promtool cannot parse the metrics. */
function checkOf(metrics: string): string {
  return execFileSync("promtool", ["check", "metrics"], { input: metrics, encoding: "utf8", stdio: "pipe" });
}
