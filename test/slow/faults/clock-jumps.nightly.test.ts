import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { get, post } from "../../contract/protocols/post.ts";
import type { Plain } from "../../contract/protocols/protocol.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { remainingOf } from "../../support/remaining-of.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

/** Seconds of a rate window. Even a busy machine answers four requests for a finished game in this time. */
const windowS = 4;
const matedFen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

/** Sets the wall clock of this process, in which the app runs. Timers and monotonic clocks are not affected. */
function jump(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
  // The wall clock continues from the new time.
  const started = performance.now();
  const from = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => from + Math.round(performance.now() - started));
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const folder = useTemporaryFolder();
const plans = usePlansFile(
  { id: "keyless", limits: { depth_max: 30, concurrent: null, rates: [rateOf("burst", 3, windowS)] } },
  { id: "free", limits: { rates: [rateOf("engine-day", 60_000, 86_400, "engine_ms")] } },
);
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: plans,
    KIBITZ_DATA_DIR: folder,
    KIBITZ_CACHE_MB: "0",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
  },
  { flushMs: 100 },
);

/** Each test has its own address, so tests do not use up each other's limits. */
let tests = 0;
beforeEach(() => void tests++);
const ofThisTest = () => ({
  "Content-Type": "application/json",
  "X-Forwarded-For": `192.0.2.${tests}`,
});
const evaluate = (body: Plain = {}, headers: Readonly<Record<string, string>> = {}) =>
  post(`${app.url}/v1/eval`, { fen: startFen, depth: 4, ...body }, { ...ofThisTest(), ...headers });
const newKey = async () => (await post(`${app.url}/v1/keys`, {}, ofThisTest())).body.key;

describe.each([
  ["forward by a year", yearMs],
  ["back by an hour", -hourMs],
])("a wall clock that is set %s", (_, ms) => {
  test("setting the wall clock does not change the length of a search, the measured times or the form of ids", async () => {
    const searching = evaluate({ depth: 30, movetime_ms: 600 });
    await sleep(200);
    jump(ms);
    const { status, body } = await searching;
    expect(status).toBe(200);
    expect(body.search).toMatchObject({ stop_reason: "movetime" });
    const { time_ms: timeMs, queue_ms: queueMs } = body.search as { time_ms: number; queue_ms: number };
    // A changed clock would shift these times by at least an hour.
    expect(timeMs).toBeGreaterThan(500);
    expect(Math.max(timeMs, queueMs)).toBeLessThan(hourMs / 2);
    expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    expect((await evaluate()).body.id).not.toBe(body.id);
    const calls = app.logged
      .filter((line) => "ms" in line)
      .map((line) => Number((line as { ms: number }).ms));
    expect(calls.length).toBeGreaterThanOrEqual(2);
    expect(calls.filter((took) => took < 0 || took >= hourMs / 2)).toEqual([]);
  });

  test("setting the wall clock does not change when a rate window ends, and Retry-After is never longer than the window", async () => {
    const askRules = () => evaluate({ fen: matedFen });
    for (let count = 0; count < 3; count++) {
      expect((await askRules()).status).toBe(200);
    }
    jump(ms);
    const next = await askRules();
    expect(next.status).toBe(429);
    expect(next.headers.get("retry-after")).toMatch(/^[1-4]$/);
    expect(next.headers.get("ratelimit")).toMatch(/;t=[0-4]$/);
    await sleep(windowS * 1000 + 100);
    expect((await askRules()).status).toBe(200);
  });

  test("setting the wall clock leaves API keys valid, and a revoked key is refused immediately", async () => {
    const headers = { Authorization: `Bearer ${await newKey()}` };
    expect((await evaluate({}, headers)).status).toBe(200);
    jump(ms);
    expect((await evaluate({}, headers)).status).toBe(200);
    expect((await fetch(`${app.url}/v1/keys/self`, { method: "DELETE", headers })).status).toBe(200);
    expect((await evaluate({}, headers)).status).toBe(401);
  });
});

test("a daily limit of engine time resets within a day, even if it was stored while the clock was a year ahead", async () => {
  const database = new DatabaseSync(join(folder, "kibitz.db"));
  onTestFinished(() => database.close());
  const headers = { Authorization: `Bearer ${await newKey()}` };
  jump(yearMs);
  expect((await evaluate({ depth: 12 }, headers)).status).toBe(200);
  const row = () =>
    database.prepare("SELECT resets_at FROM engine_time WHERE subject LIKE 'keys of %'").get();
  await vi.waitFor(() => expect(row()).toBeDefined(), 10_000);
  vi.restoreAllMocks();
  vi.useRealTimers();
  const { body } = await get(`${app.url}/v1/keys/self`, { headers });
  expect(remainingOf(body, "engine-day")).toBeGreaterThan(0);
  expect((await evaluate({ depth: 12, multipv: 2 }, headers)).status).toBe(200);
  await vi.waitFor(
    () => expect(Number(row()?.resets_at)).toBeLessThanOrEqual(Date.now() + 24 * hourMs),
    10_000,
  );
});
