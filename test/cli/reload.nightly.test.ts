import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { useRedis } from "../support/redis.ts";
import { startKibitz } from "../support/start-kibitz.ts";
import { startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const root = useTemporaryFolder();
let places = 0;

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly error?: string;
}

interface Shown {
  readonly plans: readonly { readonly id: string; readonly limits: { readonly depth_max: number } }[];
  readonly "x-kibitz-plans": readonly object[];
}

async function startWithPlans(settings: Readonly<Record<string, string>> = {}) {
  const file = join(root, `plans-${places}.json`);
  const env = {
    KIBITZ_DATA_DIR: join(root, String(places++)),
    KIBITZ_PLANS: file,
    KIBITZ_ACCESS: "public",
    ...settings,
  };
  const write = (...plans: readonly object[]) => writeFileSync(file, JSON.stringify({ plans }));
  const logged: LogLine[] = [];
  write({ id: "club", limits: { depth_max: 21 } }, { id: "keyless", limits: { depth_max: 18 } });
  const kibitz = (...args: readonly string[]) => runKibitz(["keys", ...args], env);
  const start = async () => {
    const server = await startServer(
      { ...quickestSettings, ...env },
      { onLog: (line) => logged.push(JSON.parse(line)) },
    );
    onTestFinished(() => void server.stop("SIGKILL"));
    const get = async (path: string, key?: string) => {
      const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      return (await (await fetch(server.url + path, { headers })).json()) as Shown;
    };
    const reload = async () => {
      const before = logged.length;
      process.kill(server.pid, "SIGUSR2");
      const line = () => logged.slice(before).find(({ msg }) => msg.includes("plans"));
      await expect.poll(line).toBeDefined();
      return line();
    };
    return { ...server, get, reload };
  };
  return { file, write, logged, kibitz, start };
}

const depthsOf = ({ plans }: Shown) =>
  Object.fromEntries(plans.map(({ id, limits }) => [id, limits.depth_max]));

test("SIGUSR2 reads the plans again, and keys, callers without a key, /price and /openapi.json have the new plans at once", async () => {
  const { write, kibitz, start } = await startWithPlans();
  const { key } = JSON.parse((await kibitz("create", "--plan", "club", "--json")).stdout);
  const { url, get, reload, stop } = await start();
  expect(depthsOf(await get("/price"))).toEqual({ keyless: 18, free: 30, club: 21 });
  expect((await get("/openapi.json"))["x-kibitz-plans"]).toHaveLength(3);
  write(
    { id: "club", limits: { depth_max: 25 } },
    { id: "team" },
    { id: "keyless", limits: { depth_max: 16 } },
  );
  expect(await reload()).toMatchObject({
    level: 30,
    msg: "the plans were read again: keyless, free, club, team",
  });
  expect(depthsOf(await get("/price"))).toEqual({ keyless: 16, free: 30, club: 25, team: 30 });
  expect((await get("/openapi.json"))["x-kibitz-plans"]).toHaveLength(4);
  expect(await get("/v1/keys/self", key)).toMatchObject({ plan: "club", limits: { depth_max: 25 } });
  const body = JSON.stringify({ fen: "startpos", depth: 17 });
  const headers = { "content-type": "application/json" };
  expect((await fetch(`${url}/v1/eval`, { method: "POST", headers, body })).status).toBe(402);
  expect(await stop()).toBe(0);
});

test("a plans file with faults changes nothing at SIGUSR2, and the log names all faults", async () => {
  const { file, write, start } = await startWithPlans();
  const { get, reload, stop } = await start();
  write({ id: "club", limits: { depth_max: 1 } }, { id: "Team" });
  const line = await reload();
  expect(line).toMatchObject({ level: 50, msg: "the plans were not changed" });
  expect(line?.error).toMatch(/\/plans\/0\/limits\/depth_max[\s\S]*\/plans\/1\/id/);
  writeFileSync(file, "{");
  expect(await reload()).toMatchObject({ level: 50, error: expect.stringContaining(file) });
  rmSync(file);
  expect(await reload()).toMatchObject({ level: 50, error: expect.stringContaining(file) });
  expect(depthsOf(await get("/price"))).toEqual({ keyless: 18, free: 30, club: 21 });
  write();
  expect(await reload()).toMatchObject({ level: 30 });
  expect(depthsOf(await get("/price"))).toEqual({ keyless: 20, free: 30 });
  expect(await stop()).toBe(0);
});

async function testRemovedPlan(settings: Readonly<Record<string, string>>): Promise<void> {
  const { write, logged, kibitz, start } = await startWithPlans(settings);
  const { id, key } = JSON.parse((await kibitz("create", "--plan", "club", "--json")).stdout);
  const { get, reload, stop } = await start();
  write({ id: "team" });
  const refused = await reload();
  expect(refused).toMatchObject({
    level: 50,
    error: expect.stringContaining('lacks plans that keys use: "club" (keys: 1)'),
  });
  expect(await get("/v1/keys/self", key)).toMatchObject({ plan: "club", limits: { depth_max: 21 } });
  await stop();
  logged.length = 0;
  const again = await start();
  const warned = () => logged.find(({ level, msg }) => level === 40 && msg.includes('"club"'));
  await expect
    .poll(warned)
    .toMatchObject({ msg: 'keys of the plan "club" have the plan free: KIBITZ_PLANS lacks this plan' });
  expect(await again.get("/v1/keys/self", key)).toMatchObject({ limits: { depth_max: 30 } });
  await kibitz("revoke", id);
  expect(await again.reload()).toMatchObject({ level: 30 });
  await again.stop();
}

test("SIGUSR2 refuses to remove a plan that keys use, and a start gives such keys the plan free with a warning", () =>
  testRemovedPlan({}));

describeWith("redis")("with keys in Redis", () => {
  const redis = useRedis();
  test("SIGUSR2 refuses to remove a plan that keys in Redis use", () =>
    testRemovedPlan({ KIBITZ_REDIS_URL: redis.url }));
});

test("SIGUSR2 never ends the service: not before it is ready, not without KIBITZ_PLANS, and not until the end of a stop", async () => {
  const env = {
    ...quickestSettings,
    KIBITZ_DATA_DIR: join(root, "early"),
    KIBITZ_PORT: "0",
    KIBITZ_METRICS_PORT: "0",
  };
  const kibitz = startKibitz(["serve"], env);
  let log = "";
  kibitz.stdout.on("data", (text) => {
    log += text;
  });
  onTestFinished(() => void kibitz.stop("SIGKILL"));
  const until = async (msg: string) => {
    while (!log.includes(msg)) {
      process.kill(kibitz.pid, "SIGUSR2");
      await sleep(10);
    }
  };
  // Node itself needs some time before it runs the first line of Kibitz, and Linux shows which signals it handles.
  const handled = () =>
    BigInt(`0x${/SigCgt:\s*(\w+)/.exec(readFileSync(`/proc/${kibitz.pid}/status`, "utf8"))?.[1]}`);
  await expect.poll(() => (handled() >> 11n) & 1n, { interval: 1 }).toBe(1n);
  await until('"msg":"ready');
  await until("KIBITZ_PLANS is not set");
  process.kill(kibitz.pid, "SIGTERM");
  await until('"msg":"stopping');
  let code: number | null | undefined;
  void kibitz.ended.then((ended) => {
    code = ended;
  });
  while (code === undefined) {
    try {
      process.kill(kibitz.pid, "SIGUSR2");
    } catch {
      // The process has just ended.
    }
    await sleep(1);
  }
  expect(code).toBe(0);
});
