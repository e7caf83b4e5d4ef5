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
  const [service] = await portsWith({ KIBITZ_PORT: port, KIBITZ_METRICS_PORT: "0" });
  expect(service).toMatch(/^port: bad: 127.* cannot be used \(.*EADDRINUSE/);
  const [, taken] = await portsWith({ KIBITZ_PORT: "0", KIBITZ_METRICS_PORT: port });
  expect(taken).toMatch(/^metrics port: bad: .*EADDRINUSE/);
  const [, metrics] = await portsWith({ KIBITZ_PORT: "0", KIBITZ_METRICS_HOST: "203.0.113.1" });
  expect(metrics).toMatch(/^metrics port: note: .*EADDRNOTAVAIL/);
});

test("kibitz doctor reports the port and the metrics port of a running Kibitz as notes, because a second Kibitz could not use them", async () => {
  const metricsPort = String(await freePort());
  const { port } = await serve({ KIBITZ_METRICS_PORT: metricsPort });
  expect(await portsWith({ KIBITZ_PORT: String(port), KIBITZ_METRICS_PORT: metricsPort })).toEqual([
    `port: note: Kibitz already answers at 127.0.0.1:${port}`,
    `metrics port: note: Kibitz already answers at 127.0.0.1:${metricsPort}`,
  ]);
});

test("kibitz doctor reports one port for the service and the metrics as bad, or as a note if it is the default metrics port", async () => {
  const port = String(await freePort());
  const taken = `127.0.0.1:${port} is the port of the service, KIBITZ_PORT`;
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    const ports = { KIBITZ_HOST: host, KIBITZ_PORT: port, KIBITZ_METRICS_PORT: port };
    expect((await portsWith(ports))[1]).toBe(`metrics port: bad: ${taken}`);
  }
  expect((await portsWith({ KIBITZ_PORT: "9464" }))[1]).toMatch(/^metrics port: note: .* is the port of the/);
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
