import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type AnswerStore, type StoreWatch, unwatched } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { inodeOf, isBusy, keepPrivate, makeFolder, transaction } from "./database.ts";

export interface AnswerStoreOptions<T> {
  /** The maximum size of the file. The write-ahead log beside it takes some megabytes more. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
  readonly watch?: StoreWatch;
  /** Values are written after this time at most. If the process is killed, the values of this time are lost. */
  readonly flushMs?: number;
  /** The file is tried again after this time if it has failed, or if another process has locked it. */
  readonly retryMs?: number;
}

/** The file is in the folder of the database of keys, but separate, because it may be deleted. */
export const answerFileName = "answers.db";

/** A transaction of this many rows takes a millisecond. */
const rowsAtOnce = 16;
/** The pause between two transactions if more rows wait. */
const pauseMs = 2;
/** If the file cannot be written for long, further values are lost. */
const waitingMax = 2000;

/**
 * A read takes some microseconds. Values are written in the background, and nothing waits for a lock. If the file is full, the
 * oldest rows are deleted. After any error other than a lock, the file is deleted and created anew.
 */
export function openSqliteAnswerStore<T>(
  folder: string,
  { bytes, format, watch = unwatched, flushMs = 150, retryMs = 500 }: AnswerStoreOptions<T>,
): AnswerStore<T> {
  const path = join(folder, answerFileName);
  /** Values that wait to be written, as text by key, oldest first. */
  const waiting = new Map<string, string>();
  let file: AnswerFile | undefined;
  let ended = false;
  let flushing: NodeJS.Timeout | undefined;

  const hashOf = (key: string): Uint8Array => hash("sha256", `${format.version}|${key}`, "buffer");
  const valueFrom = (text: string | undefined) =>
    text === undefined ? undefined : format.read(JSON.parse(text));

  /** Opens the file first if necessary. Returns undefined after a failure. */
  function use<R>(work: (file: AnswerFile) => R): R | undefined {
    try {
      file ??= openAnswerFile(folder, path, bytes);
      return work(file);
    } catch (error) {
      if (!isBusy(error)) {
        watch.failed("write", (error as Error).message);
        deleteFile();
        flushSoon(retryMs);
      }
      return undefined;
    }
  }

  function deleteFile(): void {
    try {
      close();
      // Delete the log first, because a new file must not find it.
      for (const part of ["-wal", "-shm", ""]) {
        rmSync(path + part, { force: true });
      }
    } catch {
      // The next write tries to open the file again, and reports the reason if it fails.
    }
  }

  function close(): void {
    const { database } = file ?? {};
    file = undefined;
    database?.close();
  }

  /** Writes some of the waiting values. Returns false after a failure. */
  function writeSome(): boolean {
    if (file && inodeOf(path) !== file.inode) {
      // SQLite would continue to write into the deleted file.
      close();
    }
    const some = [...waiting.entries().take(rowsAtOnce)];
    const isWritten = use((opened) => opened.write(some.map(([key, text]) => [hashOf(key), text])));
    if (!isWritten) {
      return false;
    }
    watch.worked("write");
    for (const [key] of some) {
      waiting.delete(key);
    }
    return true;
  }

  function flushSoon(ms = flushMs): void {
    flushing ??= setTimeout(() => {
      flushing = undefined;
      const isWritten = writeSome();
      if (waiting.size > 0) {
        flushSoon(isWritten ? pauseMs : retryMs);
      }
    }, ms).unref();
  }

  use(() => {});
  return {
    get(key) {
      const young = waiting.get(key);
      if (young !== undefined) {
        return valueFrom(young);
      }
      // Only writes try to open the file again.
      return file && use((opened) => valueFrom(opened.find(hashOf(key))));
    },
    set(key, value) {
      if (!ended && (waiting.size < waitingMax || waiting.has(key))) {
        waiting.set(key, JSON.stringify(value));
        flushSoon();
      }
    },
    [Symbol.dispose]() {
      while (waiting.size > 0 && writeSome()) {
        // Continue until all values are written or a write fails.
      }
      clearTimeout(flushing);
      ended = true;
      close();
    },
  };
}

/** The functions throw the errors of SQLite. */
interface AnswerFile {
  readonly database: DatabaseSync;
  readonly inode: number | undefined;
  find(key: Uint8Array): string | undefined;
  /** Adds or replaces rows, and deletes the oldest rows to make room. Either all changes take effect or none. */
  write(rows: readonly (readonly [key: Uint8Array, text: string])[]): true;
}

function openAnswerFile(folder: string, path: string, maxBytes: number): AnswerFile {
  makeFolder(folder);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    keepPrivate(path);
    // With NORMAL, a power cut loses the last answers but damages nothing.
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
       CREATE TABLE IF NOT EXISTS answer (
         id INTEGER PRIMARY KEY,
         key BLOB NOT NULL UNIQUE,
         text TEXT NOT NULL
       ) STRICT`,
    );
    const find = database.prepare("SELECT text FROM answer WHERE key = ?");
    const put = database.prepare("INSERT OR REPLACE INTO answer (key, text) VALUES (?, ?)");
    const deleteOldest = database.prepare(
      "DELETE FROM answer WHERE id IN (SELECT id FROM answer ORDER BY id LIMIT 8)",
    );
    const used = database.prepare(
      "SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    );
    const isFull = () => Number(used.get()?.bytes) > maxBytes;
    if (isFull()) {
      throw new Error(`its file is larger than the ${maxBytes} bytes that the settings allow`);
    }
    return {
      database,
      inode: inodeOf(path),
      find: (key) => find.get(key)?.text?.toString(),
      write: (rows) =>
        transaction(database, () => {
          for (const [key, text] of rows) {
            put.run(key, text);
          }
          while (isFull() && deleteOldest.run().changes !== 0) {
            // Continue until there is room.
          }
          return true;
        }),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
