import { afterAll, beforeAll, expect, test } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { get, post } from "../../contract/protocols/post.ts";
import { enginesRunning, stillRunning } from "../../engine/processes.ts";
import { type FakeApp, startFakeApp } from "../../faults/fake-app.ts";
import type { Misbehaviour } from "../../support/fake-engine/index.ts";
import { patienceMs } from "../../support/patience.ts";
import { startStopwatch, timesOf } from "../../support/stopwatch.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
/** Several apps run at the same time, because they mostly wait for engines. */
let apps: readonly FakeApp[] = [];
beforeAll(async () => {
  apps = await Promise.all(Array.from({ length: 4 }, () => startFakeApp(folder)));
});
afterAll(() => Promise.all(apps.map((app) => app[Symbol.asyncDispose]())));

/** Each request uses a new position, because the server refuses a position that has crashed two engines. */
let tries = 0;
const ask = (app: FakeApp, more: object = {}) =>
  post(`${app.url}/v1/eval`, { fen: startFen.replace(/1$/, String(++tries)), depth: 4, ...more });

async function armAll(misbehaviour: Misbehaviour): Promise<void> {
  for (const app of apps) {
    app.arm({ misbehaviour }, 1000);
  }
  const before = enginesRunning();
  before.forEach((pid) => void process.kill(pid, "SIGKILL"));
  await expect.poll(() => stillRunning(before), { timeout: patienceMs }).toEqual([]);
  for (const app of apps) {
    await expect.poll(() => app.engines.starting, { timeout: patienceMs }).toBe(0);
  }
}

test("a request whose engine does not stop gets 504 within movetime_ms + 1.5 s", async () => {
  await armAll("go-on");
  const free = [...apps];
  const measure = async (app: FakeApp) => {
    // The promise is about the time of the search, without the start of an engine.
    await expect.poll(() => app.engines, { timeout: patienceMs }).toMatchObject({ starting: 0, alive: 1 });
    const stop = startStopwatch();
    const { status } = await ask(app, { depth: 30, movetime_ms: 100 });
    expect(status).toBe(504);
    return stop();
  };
  const times = await timesOf(
    20,
    async () => {
      const app = free.pop() ?? expect.fail("every app is busy");
      return measure(app).finally(() => free.push(app));
    },
    apps.length,
  );
  expect(times.medianMs).toBeLessThan(100 + 1000);
  expect(times.worstMs).toBeLessThan(100 + 1500);
});

test("/healthz is answered within 100 ms while engines flood their output", async () => {
  await armAll("flood-stderr");
  const [app = expect.fail("no app runs")] = apps;
  let over = false;
  const searching = (async () => {
    while (!over) {
      await ask(app);
    }
  })();
  const probes = await timesOf(40, async () => {
    const stop = startStopwatch();
    expect((await get(`${app.url}/healthz`)).status).toBe(200);
    return stop();
  });
  over = true;
  await searching;
  expect(probes.medianMs).toBeLessThan(50);
  expect(probes.worstMs).toBeLessThan(100);
});
