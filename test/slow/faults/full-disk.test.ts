import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, vi } from "vitest";
import { startFen } from "../../contract/doors/cases/case.ts";
import { get, post } from "../../contract/doors/post.ts";
import { leastMsOf } from "../../support/least-ms.ts";
import { testWith } from "../../support/needs.ts";
import { logLevel, serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

testWith("util-linux")(
  "a server of which no file may grow goes on, tries again every 3 s, forgets nothing that was counted, and ends as ever",
  async () => {
    const server = await serve({
      KIBITZ_ACCESS: "public",
      KIBITZ_DATA_DIR: folder,
      KIBITZ_CACHE_MB: "0",
    });
    const { url } = server;
    const { body: issued } = await post(`${url}/v1/keys`, { name: "before" });
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${issued.key}` };

    const { size } = statSync(join(folder, "kibitz.db-wal"));
    const limitFiles = (bytes: number | "unlimited") =>
      void execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${bytes}:unlimited`]);
    limitFiles(size);
    const tookMs = await leastMsOf(2000, async () => {
      const before = performance.now();
      const refused = await post(`${url}/v1/keys`, { name: "never" });
      expect([refused.status, refused.headers.get("retry-after"), refused.body]).toMatchObject([
        503,
        "5",
        { code: "store_unavailable", next_action: "retry_later", retryable: true, retry_after_ms: 5000 },
      ]);
      return performance.now() - before;
    });
    // A full disk is known at once: only for a lock there is a wait, of 5 s.
    expect(tookMs).toBeLessThan(2000);
    const answer = await post(`${url}/v1/eval`, { fen: startFen, depth: 14 }, headers);
    expect(answer.status).toBe(200);
    // Two tries to write what was used: there is one every 3 s.
    await sleep(6500);
    expect((await get(`${url}/v1/keys/self`, { headers })).status).toBe(200);
    const complaints = () => server.logged.filter(({ msg }) => msg.startsWith("the database"));
    expect(complaints().map(({ level }) => level)).toEqual([logLevel.warn]);

    limitFiles("unlimited");
    // By the second of those tries.
    await vi.waitFor(() => expect(complaints()).toHaveLength(2), 6000);
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
