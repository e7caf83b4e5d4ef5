import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { createAuthenticator } from "../../src/access/authenticate.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { createRandom } from "../support/random.ts";

const writer = fileURLToPath(new URL("killed-writer.ts", import.meta.url));

/** Starts a writing process, and kills it while it writes. Resolves with the printed lines, which name at least two keys. */
async function linesUntilKilled(folder: string, afterMs: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [writer, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const output = createInterface(child.stdout);
  const lines: string[] = [];
  const going = Promise.withResolvers<void>();
  output.on("line", (line) => lines.push(line) === 3 && going.resolve());
  await going.promise;
  await sleep(afterMs);
  child.kill("SIGKILL");
  await once(output, "close");
  return lines;
}

export async function killWriters(folder: string, killsMax: number): Promise<void> {
  const random = createRandom(4);
  let shown = 0;
  for (let kills = 0; kills < killsMax; kills++) {
    const lines = await linesUntilKilled(folder, random.below(30));
    const keys = lines.filter((line) => !line.startsWith("revoked "));
    const revoked = lines.flatMap((line) =>
      line.startsWith("revoked ") ? line.slice("revoked ".length) : [],
    );
    shown += keys.length;
    const database = openDatabase(folder);
    const store = createSqliteKeyStore(database);
    const { keyOf } = createAuthenticator({ keys: store, pepper: undefined });
    for (const key of revoked) {
      await expect(keyOf(`Bearer ${key}`)).rejects.toMatchObject({ code: "invalid_api_key" });
    }
    // The last key may be revoked although the process has not printed this.
    for (const key of keys.slice(0, -1).filter((each) => !revoked.includes(each))) {
      expect(await keyOf(`Bearer ${key}`)).toMatchObject({ plan: "free", revokedAt: undefined });
    }
    expect(revoked.length).toBeGreaterThan(0);
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    const [used] = await createSqliteUsageStore(database).current(Date.now());
    const kept = (await store.list()).length;
    expect(kept).toBeGreaterThanOrEqual(shown);
    // For each kill, the engine time of one key may be missing.
    expect(used?.engineMs).toBeGreaterThanOrEqual(kept - kills - 1);
    database.close();
  }
  expect(shown).toBeGreaterThan(killsMax);
}
