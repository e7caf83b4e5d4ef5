import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { inodeOf, keepPrivate, makeFolder, sqliteErrorOf, transaction } from "./database.ts";

/** In the folder of the other database: what is in this one can be thrown away. */
export const answerFileName = "answers.db";

/** Says of a SQLite file that it is ours: "KBZA". */
const applicationId = 0x4b_42_5a_41;
/** Of the table. What is in a value has a version of its own, in its key. */
const tableVersion = 1;

/**
 * The id is the order of use: the greatest was used last. So what goes first lies together, and to forget it costs least.
 */
const table = `
  CREATE TABLE answer (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    text TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT`;

/** Pages of 4 KiB that are copied from the log into the file in one go: a millisecond, which holds up the thread. */
const checkpointPages = 250;

/** The open file, and what it is asked. Its methods throw what SQLite throws. */
export interface AnswerFile {
  find(key: Uint8Array): AnswerRow | undefined;
  /** Adds rows or puts them in the place of older ones, all or none, and makes room for them. */
  write(changes: Changes, maxBytes: number): void;
  /** Makes these the ones that were used last, unless they were lately. */
  touch(keys: readonly Uint8Array[]): void;
  /** Whether it is still the file of that name. SQLite writes on into one that was deleted. */
  isThere(): boolean;
  /** From now on a lock is waited for, for a moment: before the last writes. */
  waitForOthers(): void;
  close(): void;
}

/** As it is found: anybody may have written it. Integers are bigints. */
export type AnswerRow = { readonly text?: unknown; readonly checksum?: unknown };

interface Changes {
  readonly rows: readonly { readonly key: Uint8Array; readonly text: string; readonly checksum: number }[];
  /** Keys whose rows are worth nothing. */
  readonly spoilt: readonly Uint8Array[];
}

/** How many bytes go for each that comes, as long as there is no room. More would hold up the thread. */
const forgottenForEach = 2;
/** Rows that go in one step, before it is looked how much room there is. */
const forgottenAtOnce = 8;
/** Longest that the last writes wait for another process, in milliseconds. */
const lastWaitMs = 200;

/**
 * Opens the file in a folder, making both if they are not there. One that is damaged or somebody else's is set aside. Never
 * waits for other processes, which may have it open, too.
 *
 * @param onSetAside told under which name, and why
 * @throws what SQLite and the file system throw
 */
export function openAnswerFile(
  folder: string,
  onSetAside: (file: string, why: string) => void = () => {},
): AnswerFile {
  const file = join(folder, answerFileName);
  makeFolder(folder);
  try {
    return open(file);
  } catch (error) {
    if (!isDamage(error)) {
      throw error;
    }
    onSetAside(setAside(file), (error as Error).message);
    return open(file);
  }
}

/** A file with other tables than ours. */
class ForeignFile extends Error {}

/** Whether the file, and not the moment, is what is wrong: not our table, SQLITE_CORRUPT, SQLITE_NOTADB. */
export function isDamage(error: unknown): boolean {
  return error instanceof ForeignFile || [1, 11, 26].includes(sqliteErrorOf(error));
}

/** Gives the file another name, in the place of what had that before. Returns the name. */
export function setAside(file: string): string {
  const name = `${file}.unusable`;
  for (const part of ["", "-wal", "-shm"]) {
    rmSync(name + part, { force: true });
  }
  rmSync(`${file}-shm`, { force: true });
  // With the log that may hold a part of it, and first: a new file must not find that.
  if (existsSync(`${file}-wal`)) {
    renameSync(`${file}-wal`, `${name}-wal`);
  }
  renameSync(file, name);
  return name;
}

function open(file: string): AnswerFile {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    const isOurs = isOursOrNew(database);
    keepPrivate(file);
    // Without a sync nothing waits for the disk. A killed process loses nothing by that; what a power cut damages is
    // found by checksums, or by SQLite.
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = ${checkpointPages}`,
    );
    if (!isOurs) {
      // Another process may be quicker.
      transaction(database, () => isOursOrNew(database) || makeTable(database));
    }
    const version = numberOf(database.prepare("PRAGMA user_version"));
    if (version !== tableVersion) {
      throw new Error(
        `it was written by another Kibitz (version ${version}, this one knows ${tableVersion}): delete it, or name another folder`,
      );
    }
    return answerFileOf(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** False for a file in which nothing is yet. @throws ForeignFile */
function isOursOrNew(database: DatabaseSync): boolean {
  const isOurs = numberOf(database.prepare("PRAGMA application_id")) === applicationId;
  if (!isOurs && numberOf(database.prepare("SELECT count(*) FROM sqlite_schema")) > 0) {
    throw new ForeignFile("it was not made by Kibitz");
  }
  return isOurs;
}

function makeTable(database: DatabaseSync): void {
  database.exec(`${table}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${tableVersion}`);
}

function answerFileOf(database: DatabaseSync, file: string): AnswerFile {
  const inode = inodeOf(file);
  const find = database.prepare("SELECT text, checksum FROM answer WHERE key = ?");
  // Anything may stand there, also what is too large for a number.
  find.setReadBigInts(true);
  const put = database.prepare("INSERT OR REPLACE INTO answer (key, text, checksum) VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM answer WHERE key = ?");
  const forget = database.prepare(
    "DELETE FROM answer WHERE id IN (SELECT id FROM answer ORDER BY id LIMIT ?)",
  );
  // What is in the younger half will not go for long.
  const renew = database.prepare(
    `UPDATE answer SET id = (SELECT max(id) FROM answer) + 1
     WHERE key = ? AND id < ((SELECT min(id) FROM answer) + (SELECT max(id) FROM answer)) / 2`,
  );
  const pageBytes = numberOf(database.prepare("PRAGMA page_size"));
  const pages = database.prepare("PRAGMA page_count");
  const freePages = database.prepare("PRAGMA freelist_count");
  const usedBytes = () => (numberOf(pages) - numberOf(freePages)) * pageBytes;

  /** Not all at once, where a process had more room: its answers are not this one's to empty. */
  function makeRoom(maxBytes: number, comingBytes: number): void {
    const before = usedBytes();
    const least = Math.max(maxBytes, before - comingBytes * forgottenForEach);
    for (let used = before; used > least; used = usedBytes()) {
      if (forget.run(forgottenAtOnce).changes === 0) {
        return;
      }
    }
  }

  return {
    find: find.get.bind(find),
    write: ({ rows, spoilt }, maxBytes) =>
      transaction(database, () => {
        for (const key of spoilt) {
          remove.run(key);
        }
        makeRoom(
          maxBytes,
          rows.reduce((sum, { text }) => sum + text.length, 0),
        );
        for (const { key, text, checksum } of rows) {
          put.run(key, text, checksum);
        }
      }),
    touch: (keys) =>
      transaction(database, () => {
        for (const key of keys) {
          renew.run(key);
        }
      }),
    isThere: () => inodeOf(file) === inode,
    waitForOthers: () => database.exec(`PRAGMA busy_timeout = ${lastWaitMs}`),
    close: () => database.close(),
  };
}

function numberOf(statement: StatementSync): number {
  return Number(Object.values(statement.get() ?? {})[0]);
}
