import { execFileSync } from "node:child_process";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { describeWith, rowsWith } from "../support/needs.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** A way to run out of disk, and out of that again. */
interface Shortage {
  begin(folder: string): void;
  end(folder: string): void;
}

/** No file of this process may grow: what a quota does, and works on every Linux without being root. */
const noFileGrows: Shortage = {
  begin(folder) {
    const { size } = statSync(join(folder, "kibitz.db-wal"));
    execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${size}:unlimited`]);
  },
  end() {
    execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited:unlimited"]);
  },
};

/** The real thing: a small disk, and a file that fills it. */
const diskIsFull: Shortage = {
  begin(folder) {
    try {
      writeFileSync(join(folder, "filling"), "x".repeat(2_000_000));
    } catch {
      // As much as there was room for.
    }
  },
  end(folder) {
    rmSync(join(folder, "filling"), { force: true });
  },
};

const root = useTemporaryFolder();
const disk = useTemporaryFolder();
// Only root can make a disk.
rowsWith(["mounts"], disk).forEach(mountSmallDisk);

function mountSmallDisk(folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "kibitz-test", folder]);
  // Registered after the folder's own: the last one is asked first.
  afterAll(() => void execFileSync("umount", ["-l", folder]));
}

describe.each([
  ...rowsWith(["util-linux"], ["no file may grow", root, noFileGrows] as const),
  ...rowsWith(["mounts"], ["the disk is full", disk, diskIsFull] as const),
])("where %s", (_, folder, shortage) => {
  const flushMs = 100;
  const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: folder, KIBITZ_CACHE_MB: "0" }, { flushMs });
  const complaints = () =>
    app.logged
      .map((line) => (line as { readonly message: string }).message)
      .filter((message) => message.startsWith("the database"));

  test("analyses go on, keys have to wait, and nothing counted is lost", async () => {
    const { url } = app;
    const { body: issued } = await post(`${url}/v1/keys`, { name: "before" });
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
    expect(performance.now() - before).toBeLessThan(2000);
    const answer = await post(`${url}/v1/eval`, { fen: startFen, depth: 14 }, headers);
    expect(answer.status).toBe(200);
    // Several tries to write what was used.
    await sleep(10 * flushMs);
    expect((await get(`${url}/v1/keys/self`, { headers })).status).toBe(200);
    expect(complaints()).toEqual([expect.stringContaining("the database cannot be written")]);

    end();
    await vi.waitFor(() => expect(complaints()).toHaveLength(2), 10_000);
    expect((await post(`${url}/v1/keys`, { name: "after" })).status).toBe(200);

    const kept = new DatabaseSync(join(folder, "kibitz.db"), { readOnly: true });
    onTestFinished(() => kept.close());
    expect(kept.prepare("SELECT name FROM api_key ORDER BY created_at").all()).toEqual([
      { name: "before" },
      { name: "after" },
    ]);
    const row = () => kept.prepare("SELECT engine_ms FROM engine_time WHERE subject LIKE 'keys of %'").get();
    await vi.waitFor(() => expect(row()).toBeDefined(), 10_000);
    expect(row()?.engine_ms).toBe((answer.body.search as { time_ms: number }).time_ms);
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
