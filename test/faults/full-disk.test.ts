import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { describeWith, rowsWith } from "../support/needs.ts";
import { patienceMs } from "../support/patience.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { diskIsFull, mountSmallDisk, noFileGrowsBeyond } from "./shortages.ts";

const root = useTemporaryFolder();
const disk = useTemporaryFolder();
rowsWith(["mounts"], disk).forEach(mountSmallDisk);

describe.each([
  ...rowsWith(["util-linux"], ["no file may grow", root, noFileGrowsBeyond("kibitz.db-wal")] as const),
  ...rowsWith(["mounts"], ["the disk is full", disk, diskIsFull] as const),
])("where %s", (_, folder, shortage) => {
  const flushMs = 100;
  const metrics = createMetrics("1.2.3");
  const app = useApp(
    { KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: folder, KIBITZ_CACHE_MB: "0" },
    { flushMs, metrics },
  );
  const degraded = async () =>
    (await metrics.print()).split("\n").filter((line) => line.startsWith("kibitz_degraded{"));
  const complaints = () =>
    app.logged
      .map((line) => (line as { readonly message: string }).message)
      .filter((message) => message.startsWith("the database"));

  test("analyses go on, keys have to wait, and nothing counted is lost", async () => {
    const { url } = app;
    const { body: issued } = await post(`${url}/v1/keys`, { name: "before" });
    expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 0']);
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${issued.key}` };

    shortage.begin(folder);
    const end = () => shortage.end(folder);
    onTestFinished(end);
    const before = performance.now();
    const refused = await post(`${url}/v1/keys`, { name: "never" });
    expect([refused.status, refused.headers.get("retry-after"), refused.body]).toMatchObject([
      503,
      "5",
      { code: "store_unavailable", next_action: "retry_later", retryable: true, retry_after_ms: 5000 },
    ]);
    // A full disk is known at once: only for a lock there is a wait, of 5 s.
    expect(performance.now() - before).toBeLessThan(4500);
    const answer = await post(`${url}/v1/eval`, { fen: startFen, depth: 14 }, headers);
    expect(answer.status).toBe(200);
    // Several tries to write what was used.
    await sleep(10 * flushMs);
    expect((await get(`${url}/v1/keys/self`, { headers })).status).toBe(200);
    expect(complaints()).toEqual([expect.stringContaining("the database cannot be written")]);
    expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 1']);

    end();
    await vi.waitFor(() => expect(complaints()).toHaveLength(2), patienceMs);
    expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 0']);
    expect((await post(`${url}/v1/keys`, { name: "after" })).status).toBe(200);

    const kept = new DatabaseSync(join(folder, "kibitz.db"), { readOnly: true });
    onTestFinished(() => kept.close());
    expect(kept.prepare("SELECT name FROM api_key ORDER BY created_at").all()).toEqual([
      { name: "before" },
      { name: "after" },
    ]);
    const row = () => kept.prepare("SELECT engine_ms FROM engine_time WHERE subject LIKE 'keys of %'").get();
    await vi.waitFor(() => expect(row()).toBeDefined(), patienceMs);
    expect(row()?.engine_ms).toBe((answer.body.search as { time_ms: number }).time_ms);
  });

  test("it is known when there is room again, though nobody writes", async () => {
    const told = complaints().length;
    shortage.begin(folder);
    const end = () => shortage.end(folder);
    onTestFinished(end);
    expect((await post(`${app.url}/v1/keys`, {})).status).toBe(503);
    // Several looks whether there is.
    await sleep(5 * flushMs);
    expect(complaints().slice(told)).toEqual([expect.stringContaining("the database cannot be written")]);
    expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 1']);
    end();
    await vi.waitFor(() => expect(complaints().at(-1)).toBe("the database can be written again"), patienceMs);
    expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 0']);
  });
});

describeWith("mounts")("a full disk", () => {
  let other: DatabaseSync;
  beforeAll(() => {
    // The files that SQLite keeps beside it are there, as where another process has it open, or one was killed.
    other = new DatabaseSync(join(disk, "kibitz.db"), { readOnly: true });
    other.exec("SELECT * FROM api_key");
    diskIsFull.begin(disk);
  });
  afterAll(() => other.close());
  const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: disk });

  test("does not keep a server from starting that needs to write nothing", async () => {
    onTestFinished(() => diskIsFull.end(disk));
    expect((await post(`${app.url}/v1/eval`, { fen: startFen, depth: 4 })).status).toBe(200);
    expect((await post(`${app.url}/v1/keys`, {})).body).toMatchObject({ code: "store_unavailable" });
  });
});
