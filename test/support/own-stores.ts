import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";

/** Opens the stores for API keys and used engine time, in an empty database. The database is deleted after the test. */
export function openOwnStores() {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-test-"));
  const database = openDatabase(folder);
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  return { keys: createSqliteKeyStore(database), usage: createSqliteUsageStore(database) };
}
