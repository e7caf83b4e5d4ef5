import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { silentLog } from "../../src/log/log.ts";
import { ConfigError, loadConfig } from "../../src/wiring/config.ts";
import { defaultMetricsPort, openMetrics } from "../../src/wiring/metrics.ts";

function recordingLog() {
  const lines: string[] = [];
  const write = (_fields: object, message: string) => void lines.push(message);
  return { lines, log: { ...silentLog, info: write, warn: write } };
}

async function taken(port: number) {
  const server = createServer().listen(port, "127.0.0.1");
  // The port may already be in use by another process, which has the same effect.
  await new Promise((settle) => server.once("listening", settle).once("error", settle));
  return {
    port: (server.address() as AddressInfo | null)?.port ?? port,
    [Symbol.dispose]: () => void server.close(),
  };
}

test("KIBITZ_METRICS_PORT sets the metrics port", async () => {
  await using metrics = await openMetrics(loadConfig({ KIBITZ_METRICS_PORT: "0" }), silentLog);
  expect(await metrics?.print()).toContain("kibitz_build_info");
});

test("if the default metrics port is in use, the server starts without metrics, and this is logged", async () => {
  using _ = await taken(defaultMetricsPort);
  const { lines, log } = recordingLog();
  expect(await openMetrics(loadConfig({}), log)).toBeUndefined();
  expect(lines).toEqual([
    expect.stringMatching(/^no metrics: port 9464 cannot be used; KIBITZ_METRICS_PORT/),
  ]);
});

test("if the metrics port equals the main port, the server starts without metrics, and this is logged", async () => {
  const { lines, log } = recordingLog();
  expect(await openMetrics(loadConfig({ KIBITZ_PORT: "9464" }), log)).toBeUndefined();
  expect(lines).toEqual([
    expect.stringMatching(/^no metrics: port 9464 cannot be used; KIBITZ_METRICS_PORT/),
  ]);
  const everywhere = { KIBITZ_HOST: "0.0.0.0", KIBITZ_PORT: "9464", KIBITZ_METRICS_PORT: "9464" };
  await expect(openMetrics(loadConfig(everywhere), silentLog)).rejects.toThrow(
    "127.0.0.1:9464 (it is the port of the service, KIBITZ_PORT)",
  );
});

test("if a configured metrics port is in use, the start fails", async () => {
  using other = await taken(0);
  const config = loadConfig({ KIBITZ_METRICS_PORT: String(other.port) });
  const opening = openMetrics(config, silentLog);
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toThrow(/KIBITZ_METRICS_PORT=0 turns metrics off/);
});
