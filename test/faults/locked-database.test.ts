import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { defaultBusyMaxMs } from "../../src/storage/sqlite/database.ts";
import { startFen } from "../contract/protocols/cases/case.ts";
import { get, post } from "../contract/protocols/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { patienceMs } from "../support/patience.ts";
import { remainingOf } from "../support/remaining-of.ts";
import { useNodes } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { lockDatabase } from "./lock-database.ts";

const folder = useTemporaryFolder();
/**
 * Two nodes with one database. The first node waits only a short time for the lock of the database. The second node waits
 * longer than the test runs.
 */
const [hasty, patient] = useNodes(
  { KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: folder, KIBITZ_CACHE_MB: "0" },
  { engines: createEnginesInProcess(), busyMaxMs: 300, flushMs: 50 },
  { engines: createEnginesInProcess(), busyMaxMs: 600_000, flushMs: 50 },
) as [ReturnType<typeof useNodes>[0], ReturnType<typeof useNodes>[0]];

const withKey = (key: unknown) => ({ "Content-Type": "application/json", Authorization: `Bearer ${key}` });
const complaints = () =>
  hasty.logged
    .map((line) => (line as { readonly message: string }).message)
    .filter((message) => message.startsWith("the database"));
async function engineTimeLeft(key: unknown): Promise<number> {
  const { body } = await get(`${hasty.url}/v1/keys/self`, { headers: withKey(key) });
  return remainingOf(body, "engine-day");
}

test("while another process locks the database, analyses work, new keys are refused, and usage is stored later", async () => {
  const { body: issued } = await post(`${hasty.url}/v1/keys`, {});
  const { release } = lockDatabase(folder);
  const refused = post(`${hasty.url}/v1/keys`, {});
  for (const depth of [12, 13, 14]) {
    const answer = await post(`${hasty.url}/v1/eval`, { fen: startFen, depth }, withKey(issued.key));
    expect(answer.status).toBe(200);
  }
  const { status, body, headers } = await refused;
  expect([status, headers.get("retry-after"), body]).toMatchObject([
    503,
    "5",
    { code: "store_unavailable", next_action: "retry_later", retryable: true, retry_after_ms: 5000 },
  ]);
  expect((await post(`${hasty.url}/v1/keys`, {})).status).toBe(503);
  expect(complaints()).toEqual([expect.stringContaining("the database cannot be written")]);

  const counted = await engineTimeLeft(issued.key);
  release();
  await vi.waitFor(() => expect(complaints()).toHaveLength(2), patienceMs);
  const used = new DatabaseSync(join(folder, "kibitz.db"), { readOnly: true });
  onTestFinished(() => used.close());
  const row = () => used.prepare("SELECT engine_ms FROM engine_time WHERE subject LIKE 'keys of %'").get();
  await vi.waitFor(() => expect(row()).toBeDefined(), patienceMs);
  expect(3_600_000 - Number(row()?.engine_ms)).toBe(counted);
  expect((await post(`${hasty.url}/v1/keys`, {})).status).toBe(200);
});

test("a new key waits for the end of a short database lock, but analyses do not wait", async () => {
  const { release } = lockDatabase(folder);
  let issued = false;
  const asked = post(`${patient.url}/v1/keys`, { name: "patient" }).finally(() => {
    issued = true;
  });
  expect((await post(`${patient.url}/v1/eval`, { fen: startFen, depth: 4 })).status).toBe(200);
  expect((await get(`${patient.url}/healthz`)).status).toBe(200);
  expect(issued).toBe(false);
  release();
  const { status, body } = await asked;
  expect([status, body]).toMatchObject([200, { name: "patient" }]);
  const left = await get(`${patient.url}/v1/keys/self`, { headers: withKey(body.key) });
  expect(left.status).toBe(200);
});

test("the default timeout of a database lock is 5 s, which is the time in the runbook", () => {
  expect(defaultBusyMaxMs).toBe(5000);
});
