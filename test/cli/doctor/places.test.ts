import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkData, checkPorts } from "../../../src/cli/doctor/places.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { freePort } from "../../support/free-port.ts";
import { serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

async function portsWith(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const findings = await Array.fromAsync(checkPorts(loadConfig(env)));
  return findings.map(({ part, state, found }) => `${part}: ${state}: ${found}`);
}

test("kibitz doctor reports a free port as free", async () => {
  const port = String(await freePort());
  expect(await portsWith({ KIBITZ_PORT: port, KIBITZ_METRICS_PORT: "0" })).toEqual([
    `port: good: 127.0.0.1:${port} is free`,
    "metrics port: good: none",
  ]);
});

test("kibitz doctor reports a port as bad if another program uses the port, but the default metrics port only as a note", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const port = String((server.address() as AddressInfo).port);
  expect(await portsWith({ KIBITZ_PORT: port, KIBITZ_METRICS_PORT: port })).toEqual([
    expect.stringMatching(/^port: bad: 127.* cannot be used \(.*EADDRINUSE/),
    expect.stringMatching(/^metrics port: bad: .*EADDRINUSE/),
  ]);
  const [, metrics] = await portsWith({ KIBITZ_PORT: "0", KIBITZ_METRICS_HOST: "203.0.113.1" });
  expect(metrics).toMatch(/^metrics port: note: .*EADDRNOTAVAIL/);
});

test("kibitz doctor recognizes the port and the metrics port of a running Kibitz", async () => {
  const metricsPort = String(await freePort());
  const { port } = await serve({ KIBITZ_METRICS_PORT: metricsPort });
  expect(await portsWith({ KIBITZ_PORT: String(port), KIBITZ_METRICS_PORT: metricsPort })).toEqual([
    `port: good: Kibitz already answers at 127.0.0.1:${port}`,
    `metrics port: good: Kibitz already answers at 127.0.0.1:${metricsPort}`,
  ]);
});

test("kibitz doctor accepts a missing data folder without creating it", () => {
  const findings = [...checkData(loadConfig({ KIBITZ_DATA_DIR: join(folder, "a/b") }))];
  expect(findings).toMatchObject([{ state: "good", found: expect.stringContaining("will be created") }]);
  expect(() => writeFileSync(join(folder, "a/b"), "")).toThrow("ENOENT");
});

test("kibitz doctor reports a data folder without write permission, with advice", () => {
  expect([...checkData(loadConfig({ KIBITZ_DATA_DIR: "/proc/kibitz" }))]).toMatchObject([
    { part: "data folder", state: "bad", advice: expect.stringContaining("KIBITZ_DATA_DIR") },
  ]);
});
