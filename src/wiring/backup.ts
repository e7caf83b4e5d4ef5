import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { checkValueOf, pepperOfOthers } from "../access/keys.ts";
import { copyDatabase } from "../storage/sqlite/copy-database.ts";
import {
  databaseFile,
  hasHeader,
  keepOwner,
  makeFolder,
  StoreUnusable,
  syncToDisk,
} from "../storage/sqlite/database.ts";
import { readSqliteKeys } from "../storage/sqlite/key-store.ts";
import { DatabaseInUse, linkOrRename, replaceDatabase } from "../storage/sqlite/replace-database.ts";
import { wall } from "../time/time.ts";
import { noDatabase } from "./access.ts";
import type { Config } from "./settings.ts";

/** The file cannot be written, read or used. */
class BackupError extends Error {}

/** Copies the database to a new file. Resolves with the number of its keys. Throws BackupError or ConfigError. */
export async function backupDatabase({ dataDir }: Config, file: string): Promise<number> {
  const database = databaseFile(dataDir);
  if (!existsSync(database)) {
    throw noDatabase(database);
  }
  let count = 0;
  await writeNewFile(file, async (temporary) => {
    await copyDatabase(database, temporary);
    count = readSqliteKeys(temporary).records.length;
  });
  return count;
}

export async function backupLines(file: string, lines: string): Promise<void> {
  await writeNewFile(file, async (temporary) => writeFileSync(temporary, lines));
}

/** A command that still runs has written to its file lately. */
const leftoverMinMs = 3_600_000;

/** Returns the temporary files that commands for `file` have left because they were killed. */
export function leftoversOf(file: string): readonly string[] {
  const folder = dirname(resolve(file));
  const begin = `.${basename(file)}.`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(begin) && /^[\da-f-]{36}\.tmp/.test(name.slice(begin.length)))
    .map((name) => join(folder, name))
    .filter((path) => {
      const changedAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
      return changedAt !== undefined && changedAt < wall() - leftoverMinMs;
    });
}

/** Never replaces a file. If the process is killed, the file is complete or missing, and a file `.NAME.….tmp` may be left. */
async function writeNewFile(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    throw new BackupError(`${file} exists, and is not replaced: name a new file`);
  }
  try {
    await withTemporary(file, async (temporary) => {
      await write(temporary);
      syncToDisk(temporary);
      linkOrRename(temporary, file);
    });
    syncToDisk(dirname(resolve(file)));
  } catch (error) {
    throw new BackupError(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Creates an empty file beside `file` that only its owner can read, and removes it at the end. */
async function withTemporary(file: string, use: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = join(dirname(resolve(file)), `.${basename(file)}.${randomUUID()}.tmp`);
  try {
    closeSync(openSync(temporary, "wx", 0o600));
    await use(temporary);
  } finally {
    for (const end of ["", "-journal", "-wal", "-shm", "-earlier"]) {
      rmSync(temporary + end, { force: true });
    }
  }
}

interface Restored {
  readonly database: string;
  /** Undefined if there was no database. */
  readonly earlier: string | undefined;
  readonly count: number;
  /** The ids of keys that are revoked in the earlier database, and valid in the restored one. */
  readonly validAgain: readonly string[];
}

/** Throws BackupError, and then nothing has changed. */
export async function restoreDatabase({ dataDir, keyPepper }: Config, file: string): Promise<Restored> {
  if (kindOfBackup(file) !== "database") {
    throw new BackupError(`${file} is no copy of a database; kibitz keys import reads exported keys`);
  }
  const database = databaseFile(dataDir);
  const { records, pepperCheck } = readCopy(file);
  if (pepperCheck !== undefined && pepperCheck !== checkValueOf(keyPepper)) {
    const made = pepperOfOthers(pepperCheck, keyPepper);
    throw new BackupError(
      `KIBITZ_KEY_PEPPER: the keys in ${file} were made ${made}. None of them would work. Set the pepper that they were made with. Nothing was changed.`,
    );
  }
  let earlier: string | undefined;
  try {
    makeFolder(dataDir);
    await withTemporary(database, async (temporary) => {
      await copyDatabase(file, temporary);
      keepOwner(temporary, existsSync(database) ? database : dataDir);
      syncToDisk(temporary);
      earlier = replaceDatabase(database, temporary);
    });
  } catch (error) {
    const wayOut = error instanceof DatabaseInUse ? ": stop the server first" : "";
    throw new BackupError(`${(error as Error).message}${wayOut}. Nothing was changed.`, { cause: error });
  }
  try {
    syncToDisk(dirname(database));
  } catch (error) {
    throw new BackupError(
      `${database} is restored${earlier === undefined ? "" : `, and the earlier database is ${earlier}`}, but nobody knows if this is on the disk: ${(error as Error).message}`,
      { cause: error },
    );
  }
  const valid = new Set(records.filter(({ revokedAt }) => revokedAt === undefined).map(({ id }) => id));
  return {
    database,
    earlier,
    count: records.length,
    validAgain: revokedIn(earlier).filter((id) => valid.has(id)),
  };
}

function readCopy(file: string) {
  try {
    return readSqliteKeys(file);
  } catch (error) {
    if (error instanceof StoreUnusable) {
      const wayOut = error.isNewer ? " Run the newer version." : "";
      throw new BackupError(`${error.message}. Nothing was changed.${wayOut}`);
    }
    throw error;
  }
}

function revokedIn(earlier: string | undefined): readonly string[] {
  try {
    const records = earlier === undefined ? [] : readSqliteKeys(earlier).records;
    return records.filter(({ revokedAt }) => revokedAt !== undefined).map(({ id }) => id);
  } catch {
    // Nobody knows, because the earlier database is damaged.
    return [];
  }
}

/** Throws BackupError if the file cannot be read. Reading from a pipe could wait forever. */
export function kindOfBackup(file: string): "database" | "other" {
  try {
    if (!statSync(file).isFile()) {
      throw new Error("it is no ordinary file");
    }
    return hasHeader(file) ? "database" : "other";
  } catch (error) {
    throw new BackupError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
