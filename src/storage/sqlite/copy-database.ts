import { existsSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { openReadOnly } from "./database.ts";

/** Copies all pages in one step. Between two steps, another process could write, and SQLite would begin again. */
const pagesAtOnce = 2 ** 31 - 1;

/**
 * Copies a database into the empty file `target`, also while other processes write. Afterwards, the copy is a single file, without
 * SQLite's other files. Throws an error if the copy is damaged.
 */
export async function copyDatabase(source: string, target: string): Promise<void> {
  {
    using database = openToRead(source);
    await backup(database, target, { rate: pagesAtOnce });
  }
  using copy = new DatabaseSync(target);
  copy.exec("PRAGMA journal_mode = DELETE");
  const [problem] = copy.prepare("PRAGMA integrity_check(1)").all();
  if (problem?.integrity_check !== "ok") {
    throw new Error(`${source} is damaged: ${problem?.integrity_check}`);
  }
}

/** Opens for writing if possible: only then does SQLite remove its other files at the end, and protect the copy from a server that starts. */
function openToRead(source: string): DatabaseSync {
  if (!existsSync(source)) {
    throw new Error(`there is no ${source}`);
  }
  const database = new DatabaseSync(source, { timeout: 5000 });
  try {
    database.prepare("SELECT 1 FROM sqlite_schema").get();
    return database;
  } catch {
    // The folder may be read-only.
    database.close();
    return openReadOnly(source);
  }
}
