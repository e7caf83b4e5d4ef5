import { hash } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type AnswerStore, type AnswerStoreWatch, unwatched } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { busy, inodeOf, keepPrivate, makeFolder, sqliteErrorOf, transaction } from "./database.ts";

export interface AnswerStoreOptions<T> {
  /** Of the file. It takes some megabytes more: a log before it, and what is written while older ones go. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
  readonly watch?: AnswerStoreWatch;
  /** Longest until a value is written, in milliseconds. A killed process loses the values of this time. */
  readonly flushMs?: number;
  /** After a failure, until the file is tried again, in milliseconds. */
  readonly retryMs?: number;
  /** How long another process may have the file locked before that counts as a failure, in milliseconds. */
  readonly busyMaxMs?: number;
}

/** In the folder of the database of keys. A file of its own, because it may be lost. */
export const answerFileName = "answers.db";

/** Rows that are written in one transaction: a millisecond. */
const rowsAtOnce = 16;
/** Between two transactions if more rows wait, in milliseconds. */
const pauseMs = 2;
/** Values that wait for the file, at most. More are lost if the disk is full or another process has the file locked. */
const waitingMax = 2000;

/**
 * Answers in SQLite. A read takes some microseconds; values are written in the background. Nothing waits for a lock or for the disk.
 * When the file is full, the oldest rows are deleted.
 */
export function openSqliteAnswerStore<T>(
  folder: string,
  {
    bytes,
    format,
    watch = { ...unwatched, setAside() {} },
    flushMs = 150,
    retryMs = 1000,
    busyMaxMs = 5000,
  }: AnswerStoreOptions<T>,
): AnswerStore<T> {
  const path = join(folder, answerFileName);
  /** Texts by key, oldest first. */
  const waiting = new Map<string, string>();
  let file: AnswerFile | undefined;
  /** By `performance.now()`, as `busySince`. */
  let openAgainAt = Number.NEGATIVE_INFINITY;
  let busySince: number | undefined;
  let ended = false;
  let flushing: NodeJS.Timeout | undefined;

  const hashOf = (key: string): Uint8Array => hash("sha256", `${format.version}|${key}`, "buffer");

  function closeFile(): void {
    file?.database.close();
    file = undefined;
  }

  /** Opens the file if needed. Undefined after a failure, which is reported. */
  function ask<R>(what: "read" | "write", work: (file: AnswerFile) => R): R | undefined {
    if (ended || (file === undefined && performance.now() < openAgainAt)) {
      return undefined;
    }
    try {
      if (what === "write" && file !== undefined && inodeOf(path) !== file.inode) {
        // SQLite writes on into a file that was deleted.
        closeFile();
      }
      file ??= openAnswerFile(folder, path);
      const result = work(file);
      if (what === "write") {
        busySince = undefined;
      }
      watch.worked(what);
      return result;
    } catch (error) {
      const now = performance.now();
      if (sqliteErrorOf(error) === busy) {
        busySince ??= now;
        if (now - busySince < busyMaxMs) {
          return undefined;
        }
      }
      const { message } = error as Error;
      if (isDamage(error)) {
        beginAnew(message);
      } else {
        watch.failed(file === undefined ? "write" : what, message);
      }
      if (file === undefined) {
        openAgainAt = now + retryMs;
      }
      return undefined;
    }
  }

  /** Gives the damaged file another name, unless another process has replaced it already. */
  function beginAnew(why: string): void {
    const isThere = file === undefined || inodeOf(path) === file.inode;
    closeFile();
    try {
      if (isThere) {
        const name = `${path}.unusable`;
        // The log first: a new file must not find it.
        for (const part of ["-wal", "-shm", ""]) {
          rmSync(name + part, { force: true });
          if (existsSync(path + part)) {
            renameSync(path + part, name + part);
          }
        }
        watch.setAside(name, why);
      }
      file = openAnswerFile(folder, path);
    } catch (error) {
      watch.failed("write", (error as Error).message);
    }
  }

  function valueFrom(text: string): T | undefined {
    try {
      return format.read(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  /** False after a failure. */
  function writeSome(): boolean {
    const some = [...waiting.entries().take(rowsAtOnce)];
    const rows = some.map(([key, text]) => ({ key: hashOf(key), text }));
    if (!ask("write", (opened) => opened.write(rows, bytes))) {
      return false;
    }
    for (const [key] of some) {
      waiting.delete(key);
    }
    return true;
  }

  function flushSoon(ms = flushMs): void {
    flushing ??= setTimeout(() => {
      flushing = undefined;
      const written = writeSome();
      if (waiting.size > 0) {
        flushSoon(written ? pauseMs : busySince === undefined ? retryMs : flushMs);
      }
    }, ms).unref();
  }

  ask("write", () => {});
  return {
    get(key) {
      const young = waiting.get(key);
      const text = young ?? ask("read", (opened) => opened.find(hashOf(key)));
      return text === undefined ? undefined : valueFrom(text);
    },
    set(key, value) {
      if (!ended && (waiting.size < waitingMax || waiting.has(key))) {
        waiting.set(key, JSON.stringify(value));
        flushSoon();
      }
    },
    [Symbol.dispose]() {
      clearTimeout(flushing);
      while (waiting.size > 0 && writeSome()) {
        // Until nothing is left, or it fails.
      }
      closeFile();
      ended = true;
    },
  };
}

/** The open file. Its functions throw what SQLite throws. */
interface AnswerFile {
  readonly database: DatabaseSync;
  readonly inode: number | undefined;
  /** The text of a row that is as it was written. */
  find(key: Uint8Array): string | undefined;
  /** Adds or replaces rows, and makes room for them: all or nothing. */
  write(rows: readonly { readonly key: Uint8Array; readonly text: string }[], maxBytes: number): true;
}

/** Marks a SQLite file as ours: "KBZA". */
const applicationId = 0x4b_42_5a_41;
/** The version of the table. The format of a value has its own version, in its key. */
const tableVersion = 1;

const table = `
  CREATE TABLE answer (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    text TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${tableVersion}`;

/** Pages of 4 KiB that are copied from the log into the file at once: a millisecond. */
const checkpointPages = 250;

/** For each byte that comes, so many are deleted at most while the file is too large. More would hold up the thread. */
const deletedForEach = 2;
const rowsDeletedAtOnce = 8;

/** A file with other tables than ours, or of another version. */
class ForeignFile extends Error {}

/** A foreign file, SQLITE_ERROR (a table without our columns), SQLITE_CORRUPT or SQLITE_NOTADB. */
function isDamage(error: unknown): boolean {
  return error instanceof ForeignFile || [1, 11, 26].includes(sqliteErrorOf(error));
}

function openAnswerFile(folder: string, path: string): AnswerFile {
  makeFolder(folder);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    const isOurs = isOursOrNew(database);
    keepPrivate(path);
    // A killed process loses nothing without a sync. The checksums or SQLite find damage by a power cut.
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = ${checkpointPages}`,
    );
    if (!isOurs) {
      // Another process may be quicker.
      transaction(database, () => isOursOrNew(database) || database.exec(table));
    }
    return answerFileOf(database, inodeOf(path));
  } catch (error) {
    database.close();
    throw error;
  }
}

/** False for an empty file. @throws ForeignFile */
function isOursOrNew(database: DatabaseSync): boolean {
  const isOurs = numberOf(database.prepare("PRAGMA application_id")) === applicationId;
  if (!isOurs && numberOf(database.prepare("SELECT count(*) FROM sqlite_schema")) > 0) {
    throw new ForeignFile("it was not made by Kibitz");
  }
  const version = numberOf(database.prepare("PRAGMA user_version"));
  if (isOurs && version !== tableVersion) {
    throw new ForeignFile(`it was written by another Kibitz (version ${version}, this one: ${tableVersion})`);
  }
  return isOurs;
}

function answerFileOf(database: DatabaseSync, inode: number | undefined): AnswerFile {
  const find = database.prepare("SELECT text, checksum FROM answer WHERE key = ?");
  // A damaged checksum may be too large for a number.
  find.setReadBigInts(true);
  const put = database.prepare("INSERT OR REPLACE INTO answer (key, text, checksum) VALUES (?, ?, ?)");
  const deleteOldest = database.prepare(
    `DELETE FROM answer WHERE id IN (SELECT id FROM answer ORDER BY id LIMIT ${rowsDeletedAtOnce})`,
  );
  const pageBytes = numberOf(database.prepare("PRAGMA page_size"));
  const pages = database.prepare("PRAGMA page_count");
  const freePages = database.prepare("PRAGMA freelist_count");
  const usedBytes = () => (numberOf(pages) - numberOf(freePages)) * pageBytes;

  /** Step by step, so that a process with a small limit does not empty the file of another one at once. */
  function makeRoom(maxBytes: number, comingBytes: number): void {
    const target = Math.max(maxBytes, usedBytes() - comingBytes * deletedForEach);
    while (usedBytes() > target && deleteOldest.run().changes !== 0) {
      // Until there is room.
    }
  }

  return {
    database,
    inode,
    find(key) {
      const { text, checksum } = find.get(key) ?? {};
      return typeof text === "string" && checksum === BigInt(checksumOf(text, key)) ? text : undefined;
    },
    write: (rows, maxBytes) =>
      transaction(database, () => {
        makeRoom(
          maxBytes,
          rows.reduce((sum, { text }) => sum + text.length, 0),
        );
        for (const { key, text } of rows) {
          put.run(key, text, checksumOf(text, key));
        }
        return true;
      }),
  };
}

/** The checksum covers the key too, so a row in the place of another one does not pass. */
function checksumOf(text: string, key: Uint8Array): number {
  return crc32(text, crc32(key));
}

function numberOf(statement: StatementSync): number {
  return Number(Object.values(statement.get() ?? {})[0]);
}
