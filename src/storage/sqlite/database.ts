import { accessSync, chmodSync, constants } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./make-folder.ts";

/**
 * Each brings the database one version up. What has once been released is never changed: a change is a new one.
 */
const migrations: readonly string[] = [
  `CREATE TABLE api_key (
     id TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     name TEXT,
     plan TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     issued_to TEXT,
     last_used_at INTEGER,
     revoked_at INTEGER
   ) STRICT;
   CREATE INDEX api_key_issued ON api_key (issued_to, created_at);
   CREATE TABLE engine_time (
     rate TEXT NOT NULL,
     subject TEXT NOT NULL,
     engine_ms INTEGER NOT NULL,
     resets_at INTEGER NOT NULL,
     PRIMARY KEY (rate, subject)
   ) STRICT, WITHOUT ROWID;`,
];

/** Longest that one process waits for another one's write, in milliseconds. */
const busyTimeoutMs = 5000;

/** The folder or the database in it cannot be used. The message says why. */
export class StoreUnusable extends Error {}

/**
 * Opens the database in a folder, making both if they are not there. Several processes may have it open.
 *
 * @throws StoreUnusable
 */
export function openDatabase(folder: string): DatabaseSync {
  const file = join(folder, "kibitz.db");
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    try {
      // With write-ahead logging readers never wait; FULL, because a key that was shown must survive a power cut.
      keepPrivate(file);
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      migrate(database);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw new StoreUnusable(`${file} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** The files that SQLite puts beside it get the same mode. */
function keepPrivate(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch {
    // Somebody else's, shared with this user on purpose.
  }
}

function migrate(database: DatabaseSync): void {
  // Two processes may start at once: the second one waits here, and finds the work done.
  database.exec("BEGIN IMMEDIATE");
  try {
    const { user_version: version } = database.prepare("PRAGMA user_version").get() as {
      user_version: number;
    };
    if (version > migrations.length) {
      throw new Error(
        `it was written by a newer Kibitz (version ${version}, this one knows ${migrations.length})`,
      );
    }
    for (const migration of migrations.slice(version)) {
      database.exec(migration);
    }
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

/** Runs writes that count all or not at all. */
export function transaction<T>(database: DatabaseSync, run: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = run();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
