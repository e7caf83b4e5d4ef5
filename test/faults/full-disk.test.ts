import { execFileSync } from "node:child_process";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { rowsWith, testWith } from "../support/needs.ts";
import { logLevel, type Served, serve } from "../support/served.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** A way to run out of disk, and out of that again. */
interface Shortage {
  begin(server: Served, folder: string): void;
  end(server: Served, folder: string): void;
}

/** No file may grow: what a quota does, and works on every Linux without being root. */
const noFileGrows: Shortage = {
  begin({ pid }, folder) {
    const { size } = statSync(join(folder, "kibitz.db-wal"));
    execFileSync("prlimit", ["--pid", String(pid), `--fsize=${size}:unlimited`]);
  },
  end({ pid }) {
    execFileSync("prlimit", ["--pid", String(pid), "--fsize=unlimited:unlimited"]);
  },
};

/** The real thing: a small disk, and a file that fills it. */
const diskIsFull: Shortage = {
  begin(_, folder) {
    try {
      writeFileSync(join(folder, "filling"), "x".repeat(2_000_000));
    } catch {
      // As much as there was room for.
    }
  },
  end(_, folder) {
    rmSync(join(folder, "filling"));
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

test.each([
  ...rowsWith(["util-linux"], ["no file may grow", root, noFileGrows] as const),
  ...rowsWith(["mounts"], ["the disk is full", disk, diskIsFull] as const),
])(
  "where %s, analyses go on, keys have to wait, and nothing counted is lost",
  async (_, folder, shortage) => {
    const server = await serve({
      KIBITZ_ACCESS: "public",
      KIBITZ_DATA_DIR: folder,
      KIBITZ_CACHE_MB: "0",
    });
    const { url } = server;
    const { body: issued } = await post(`${url}/v1/keys`, { name: "before" });
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${issued.key}` };

    shortage.begin(server, folder);
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
    // Two tries to write what was used.
    await sleep(6500);
    expect((await get(`${url}/v1/keys/self`, { headers })).status).toBe(200);
    const complaints = () => server.logged.filter(({ msg }) => msg.startsWith("the database"));
    expect(complaints().map(({ level }) => level)).toEqual([logLevel.warn]);

    shortage.end(server, folder);
    await vi.waitFor(() => expect(complaints()).toHaveLength(2), 10_000);
    expect((await post(`${url}/v1/keys`, { name: "after" })).status).toBe(200);
    expect(server.logged.filter(({ level }) => level >= logLevel.error)).toEqual([]);
    expect(await server.stop()).toBe(0);

    const kept = new DatabaseSync(join(folder, "kibitz.db"), { readOnly: true });
    onTestFinished(() => kept.close());
    expect(kept.prepare("SELECT name FROM api_key ORDER BY created_at").all()).toEqual([
      { name: "before" },
      { name: "after" },
    ]);
    const { engine_ms } =
      kept.prepare("SELECT engine_ms FROM engine_time WHERE subject LIKE 'keys of %'").get() ?? {};
    expect(engine_ms).toBe((answer.body.search as { time_ms: number }).time_ms);
  },
);

testWith("mounts")(
  "a full disk does not keep a server from starting that needs to write nothing",
  async () => {
    const shortage = {
      begin: () => diskIsFull.begin({} as Served, disk),
      end: () => diskIsFull.end({} as Served, disk),
    };
    shortage.begin();
    onTestFinished(shortage.end);
    const { url, stop } = await serve({ KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: disk });
    expect((await post(`${url}/v1/eval`, { fen: startFen, depth: 4 })).status).toBe(200);
    expect((await post(`${url}/v1/keys`, {})).body).toMatchObject({ code: "store_unavailable" });
    await stop();
  },
);
