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

/** Lets a writer print two keys and more, and kills it in the middle of whatever it does then. */
async function keysUntilKilled(folder: string, afterMs: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [writer, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  const keys: string[] = [];
  const going = Promise.withResolvers<void>();
  lines.on("line", (key) => keys.push(key) === 2 && going.resolve());
  await going.promise;
  await sleep(afterMs);
  child.kill("SIGKILL");
  await once(lines, "close");
  return keys;
}

/**
 * Kills so many processes while they write into the database of a folder, one after the other: each leaves one that
 * opens, with every key that was shown.
 */
export async function killWriters(folder: string, killsMax: number): Promise<void> {
  const random = createRandom(4);
  let shown = 0;
  for (let kills = 0; kills < killsMax; kills++) {
    const keys = await keysUntilKilled(folder, random.below(30));
    shown += keys.length;
    const database = openDatabase(folder);
    const store = createSqliteKeyStore(database);
    const { keyOf } = createAuthenticator({ keys: store, pepper: undefined });
    for (const key of keys) {
      expect(await keyOf(`Bearer ${key}`)).toMatchObject({ plan: "free", revokedAt: undefined });
    }
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    const [used] = await createSqliteUsageStore(database).current(Date.now());
    const kept = (await store.list()).length;
    expect(kept).toBeGreaterThanOrEqual(shown);
    // Between two writes there may be a key whose millisecond was not counted, one for each kill.
    expect(used?.engineMs).toBeGreaterThanOrEqual(kept - kills - 1);
    database.close();
  }
  expect(shown).toBeGreaterThan(killsMax);
}
