import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { patienceMs } from "../support/patience.ts";
import { remainingOf } from "../support/remaining-of.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { probeHealth } from "./health-probe.ts";

const folder = useTemporaryFolder();
const busyMaxMs = 1000;
const app = useApp(
  { KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: folder, KIBITZ_CACHE_MB: "0" },
  { busyMaxMs, flushMs: 100 },
);

/** Another process that writes and does not end: to SQLite a connection is one. */
function lock(): { release(): void } {
  const other = new DatabaseSync(join(folder, "kibitz.db"));
  other.exec("BEGIN IMMEDIATE");
  const release = () => {
    if (other.isOpen) {
      other.close();
    }
  };
  onTestFinished(release);
  return { release };
}

const withKey = (key: unknown) => ({ "Content-Type": "application/json", Authorization: `Bearer ${key}` });
/** Between two looks at whether it is alive. */
const pauseMs = 5;
const complaints = () =>
  app.logged
    .map((line) => (line as { readonly message: string }).message)
    .filter((message) => message.startsWith("the database"));
/** Milliseconds, as the key's holder is told. */
async function engineTimeLeft(key: unknown): Promise<number> {
  const { body } = await get(`${app.url}/v1/keys/self`, { headers: withKey(key) });
  return remainingOf(body, "engine-day");
}

test("a database that another process has locked holds up neither health nor analyses, and nothing counted is lost", async () => {
  const { body: issued } = await post(`${app.url}/v1/keys`, {});
  const headers = withKey(issued.key);
  const { release } = lock();
  const toldBefore = complaints().length;
  const stopProbing = probeHealth(app.url, pauseMs);

  const refusedAfter = performance.now();
  const refused = post(`${app.url}/v1/keys`, {}).then((reply) => ({
    ...reply,
    ms: performance.now() - refusedAfter,
  }));
  const answers = await Promise.all(
    [12, 13, 14].map((depth) => post(`${app.url}/v1/eval`, { fen: startFen, depth }, headers)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);

  // Waited for as long as a lock may take, then told.
  const { status, body, headers: fields, ms } = await refused;
  expect([status, fields.get("retry-after"), body]).toMatchObject([
    503,
    "5",
    { code: "store_unavailable", next_action: "retry_later", retryable: true, retry_after_ms: 5000 },
  ]);
  expect(ms).toBeGreaterThan(busyMaxMs * 0.8);
  expect(ms).toBeLessThan(busyMaxMs + 8000);
  // Time for several tries to write, each of which waits for as long.
  await sleep(2.5 * busyMaxMs);
  expect(complaints()).toHaveLength(toldBefore + 1);

  const tookMs = await stopProbing();
  expect(tookMs.length).toBeGreaterThan(20);
  // A thread that waits for the lock holds up the next one soon, for as long as a lock may take. A busy machine leaves times between.
  let quickMs = 0;
  const quickTimesMs = tookMs.map((ms) => {
    quickMs = ms < busyMaxMs / 2 ? quickMs + ms + pauseMs : 0;
    return quickMs;
  });
  expect(Math.max(...quickTimesMs)).toBeGreaterThan(busyMaxMs / 2);

  const counted = await engineTimeLeft(issued.key);
  release();
  await vi.waitFor(() => expect(complaints()).toHaveLength(toldBefore + 2), patienceMs);
  const used = new DatabaseSync(join(folder, "kibitz.db"), { readOnly: true });
  onTestFinished(() => used.close());
  const row = () => used.prepare("SELECT engine_ms FROM engine_time WHERE subject LIKE 'keys of %'").get();
  await vi.waitFor(() => expect(row()).toBeDefined(), patienceMs);
  expect(3_600_000 - Number(row()?.engine_ms)).toBe(counted);
  expect((await post(`${app.url}/v1/keys`, {})).status).toBe(200);
});

test("a lock that ends in time costs a new key time, and nothing else", async () => {
  const { release } = lock();
  const asked = post(`${app.url}/v1/keys`, { name: "patient" });
  await sleep(200);
  release();
  const { status, body } = await asked;
  expect([status, body]).toMatchObject([200, { name: "patient" }]);
  const left = await get(`${app.url}/v1/keys/self`, { headers: withKey(body.key) });
  expect(left.status).toBe(200);
});
