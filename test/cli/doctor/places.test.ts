import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkValueOf } from "../../../src/access/keys.ts";
import { checkData, checkPlans, checkPorts } from "../../../src/cli/doctor/places.ts";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../../../src/storage/sqlite/key-store.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { keyRecord } from "../../contract/access-stores.ts";
import { freePort } from "../../support/free-port.ts";
import { serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const dataIn = (name: string) => loadConfig({ KIBITZ_DATA_DIR: join(folder, name) });
const inShort = ({ part, state }: { readonly part: string; readonly state: string }) => `${part}: ${state}`;

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

test("kibitz doctor reports free ports as free", async () => {
  const config = loadConfig({ KIBITZ_PORT: "0", KIBITZ_METRICS_PORT: "0" });
  expect((await Array.fromAsync(checkPorts(config))).map(inShort)).toEqual([
    "port: good",
    "metrics port: good",
  ]);
});

test("kibitz doctor reports that a port of another process keeps the service from starting", async () => {
  const port = String(await takenPort());
  const config = loadConfig({ KIBITZ_PORT: port, KIBITZ_METRICS_PORT: port });
  const findings = await Array.fromAsync(checkPorts(config));
  expect(findings.map(inShort)).toEqual(["port: bad", "metrics port: bad"]);
  expect(findings[0]?.advice).toContain("KIBITZ_PORT");
});

test("kibitz doctor refuses one port for both the service and its metrics", async () => {
  const port = String(await freePort());
  const same = loadConfig({ KIBITZ_PORT: port, KIBITZ_METRICS_PORT: port });
  expect((await Array.fromAsync(checkPorts(same))).map(inShort)).toEqual(["port: good", "metrics port: bad"]);
});

test("kibitz doctor reports the ports of a running Kibitz as its own, the metrics port too", async () => {
  const metricsPort = String(await freePort());
  const { port } = await serve({ KIBITZ_METRICS_PORT: metricsPort });
  const config = loadConfig({ KIBITZ_PORT: String(port), KIBITZ_METRICS_PORT: metricsPort });
  const findings = await Array.fromAsync(checkPorts(config));
  expect(findings.map(({ part, state, found }) => `${part}: ${state}: ${found}`)).toEqual([
    `port: good: a Kibitz answers at 127.0.0.1:${port} already`,
    `metrics port: good: a Kibitz answers at 127.0.0.1:${metricsPort} already`,
  ]);
});

test("kibitz doctor checks the metrics port only if a setting names it", async () => {
  const config = {
    ...loadConfig({ KIBITZ_PORT: "0" }),
    metricsPort: undefined,
    metricsHost: "203.0.113.1",
  };
  expect((await Array.fromAsync(checkPorts(config))).map(inShort)).toEqual([
    "port: good",
    "metrics port: note",
  ]);
});

test("kibitz doctor accepts a data folder that does not exist yet, and does not make it", () => {
  const findings = [...checkData(dataIn("a/b"))];
  expect(findings.map(inShort)).toEqual(["data folder: good", "database: good"]);
  expect(findings.map(({ found }) => found)).toEqual([expect.stringContaining("will be made"), "none yet"]);
  expect(() => writeFileSync(join(folder, "a/b"), "")).toThrow();
});

test("kibitz doctor reports a data folder that it cannot write to", () => {
  const findings = [...checkData(loadConfig({ KIBITZ_DATA_DIR: "/proc/kibitz" }))];
  expect(findings.map(inShort)).toEqual(["data folder: bad"]);
});

test("kibitz doctor reports the keys in the data folder", () => {
  openDatabase(join(folder, "used")).close();
  expect([...checkData(dataIn("used"))].map(({ found }) => found).at(-1)).toMatch(/^version \d+, keys: 0$/);
});

test("kibitz doctor reports keys that were made with another pepper, and the way out", async () => {
  const database = openDatabase(join(folder, "peppered"));
  const keys = createSqliteKeyStore(database);
  await keys.keepPepperCheck(checkValueOf("a pepper of sixteen characters"));
  const last = () => [...checkData(dataIn("peppered"))].at(-1);
  expect(last()).toMatchObject({ state: "good" });
  await keys.create(keyRecord({ id: "a" }));
  expect(last()).toEqual({
    part: "database",
    state: "bad",
    found: expect.stringMatching(/the keys in \S+ were made with a pepper, and none is set/),
    advice: expect.stringContaining("set the pepper that they were made with"),
  });
  database.close();
});

test("kibitz doctor reports a database that is damaged or of a newer Kibitz, and leaves it unchanged", () => {
  const database = openDatabase(join(folder, "newer"));
  database.exec("PRAGMA user_version = 99");
  database.close();
  mkdirSync(join(folder, "damaged"));
  writeFileSync(join(folder, "damaged/kibitz.db"), "no database");
  for (const [name, why] of [
    ["newer", "newer Kibitz"],
    ["damaged", "not a database"],
  ] as const) {
    const finding = [...checkData(dataIn(name))].at(-1);
    expect(finding).toMatchObject({ state: "bad", found: expect.stringContaining(why) });
  }
});

test("kibitz doctor reports where a file of plans cannot be read", () => {
  const file = join(folder, "plans.json");
  writeFileSync(file, '{"plans": 3}');
  const [finding] = checkPlans(loadConfig({ KIBITZ_PLANS: file }));
  expect(finding).toMatchObject({ state: "bad", found: expect.stringContaining(file) });
  expect([...checkPlans(loadConfig({}))].map(({ state }) => state)).toEqual(["good"]);
});
