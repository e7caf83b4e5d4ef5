import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { startFen } from "../contract/protocols/cases/case.ts";
import { get, post } from "../contract/protocols/post.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { patienceMs } from "../support/patience.ts";
import { useApp } from "../support/running-app.ts";
import type { Shortage } from "./shortages.ts";

/** Defines tests in which the data folder cannot be written for some time, and then can be written again. */
export function testFullDisk(what: string, folder: string, shortage: Shortage): void {
  describe(what, () => {
    const flushMs = 100;
    const metrics = createMetrics("1.2.3");
    const app = useApp(
      { KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: folder, KIBITZ_CACHE_MB: "0" },
      // The timeout for a lock is longer than a test may run. If the server treats a full disk like a lock, the test fails.
      { engines: createEnginesInProcess(), flushMs, busyMaxMs: 600_000, metrics },
    );
    const degraded = async () =>
      (await metrics.print()).split("\n").filter((line) => line.startsWith("kibitz_degraded{"));
    const complaints = () =>
      app.logged
        .map((line) => (line as { readonly message: string }).message)
        .filter((message) => message.startsWith("the database"));

    test(`if ${what}, analyses work, new keys are refused, and usage is stored later`, async () => {
      const { url } = app;
      const { body: issued } = await post(`${url}/v1/keys`, { name: "before" });
      expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 0']);
      const headers = { "Content-Type": "application/json", Authorization: `Bearer ${issued.key}` };

      shortage.begin(folder);
      const end = () => shortage.end(folder);
      onTestFinished(end);
      const refused = await post(`${url}/v1/keys`, { name: "never" });
      expect([refused.status, refused.headers.get("retry-after"), refused.body]).toMatchObject([
        503,
        "5",
        { code: "store_unavailable", next_action: "retry_later", retryable: true, retry_after_ms: 5000 },
      ]);
      const answer = await post(`${url}/v1/eval`, { fen: startFen, depth: 14 }, headers);
      expect(answer.status).toBe(200);
      // The server tries several times to write the used engine time.
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
      const row = () =>
        kept.prepare("SELECT engine_ms FROM engine_time WHERE subject LIKE 'keys of %'").get();
      await vi.waitFor(() => expect(row()).toBeDefined(), patienceMs);
      expect(row()?.engine_ms).toBe((answer.body.search as { time_ms: number }).time_ms);
    });

    test(`if ${what}, the server detects the end of this fault even without requests`, async () => {
      const earlier = complaints().length;
      shortage.begin(folder);
      const end = () => shortage.end(folder);
      onTestFinished(end);
      expect((await post(`${app.url}/v1/keys`, {})).status).toBe(503);
      // The server checks several times whether the database works.
      await sleep(5 * flushMs);
      expect(complaints().slice(earlier)).toEqual([
        expect.stringContaining("the database cannot be written"),
      ]);
      expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 1']);
      end();
      await vi.waitFor(
        () => expect(complaints().at(-1)).toBe("the database can be written again"),
        patienceMs,
      );
      expect(await degraded()).toEqual(['kibitz_degraded{part="database"} 0']);
    });
  });
}
