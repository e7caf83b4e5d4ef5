import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { outsideRequests } from "../../request/owner.ts";
import { after, type Timer } from "../../time/time.ts";
import { type AnswerStore, type StoreWatch, unwatched } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { inodeOf, isBusy, makeFolder, restrictToOwner, transaction } from "./database.ts";

export interface AnswerStoreOptions<T> {
  /** The maximum size of the database file. The write-ahead log may need some more megabytes. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
  readonly watch?: StoreWatch;
  /** Milliseconds until a value is written. If the process is killed, values that were not written are lost. */
  readonly flushMs?: number;
  /** Milliseconds before the file is opened or written again after a failure. */
  readonly retryMs?: number;
}

/** Separate from the file with API keys, because the answers may be deleted at any time. */
export const answerFileName = "answers.db";

/** A transaction with this number of rows takes about a millisecond. */
const rowsAtOnce = 16;
const pauseMs = 2;
/** The maximum number of values that wait to be written. Further values are dropped. */
const waitingMax = 2000;

/**
 * A read takes some microseconds. Writes run in the background. If the file is full, the oldest rows are deleted.
 * After any error except a lock, the file is deleted and created again.
 */
export function openSqliteAnswerStore<T>(
  folder: string,
  { bytes, format, watch = unwatched, flushMs = 150, retryMs = 500 }: AnswerStoreOptions<T>,
): AnswerStore<T> {
  const path = join(folder, answerFileName);
  /** Maps a cache key to JSON. The oldest value is first. */
  const waiting = new Map<string, string>();
  let file: AnswerFile | undefined;
  let ended = false;
  let flushing: Timer | undefined;

  const hashOf = (key: string): Uint8Array => hash("sha256", `${format.version}|${key}`, "buffer");
  const valueFrom = (text: string | undefined) =>
    text === undefined ? undefined : format.read(JSON.parse(text));

  function opened(): AnswerFile {
    file ??= openAnswerFile(folder, path, bytes);
    return file;
  }

  /** Returns undefined after a failure. Run everything that touches the file in `work`, because this store must not throw. */
  function attempt<R>(work: () => R): R | undefined {
    try {
      return work();
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
      // Delete the write-ahead log first: SQLite would apply an old log to a new database file.
      for (const part of ["-wal", "-shm", ""]) {
        rmSync(path + part, { force: true });
      }
    } catch {
      // Ignore the failure, because the next write opens the file again.
    }
  }

  function close(): void {
    const { database } = file ?? {};
    file = undefined;
    database?.close();
  }

  /** Writes some of the waiting values. Returns false if the write fails. */
  function writeSome(): boolean {
    const some = [...waiting.entries().take(rowsAtOnce)];
    const isWritten = attempt(() => {
      if (file && inodeOf(path) !== file.inode) {
        // Close the file, because it was deleted or replaced, and SQLite would still write into the deleted file.
        close();
      }
      return opened().write(some.map(([key, text]) => [hashOf(key), text]));
    });
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
    flushing ??= outsideRequests(() =>
      after(ms, () => {
        flushing = undefined;
        const isWritten = writeSome();
        if (waiting.size > 0) {
          flushSoon(isWritten ? pauseMs : retryMs);
        }
      }).unref(),
    );
  }

  attempt(opened);
  return {
    get(key) {
      const young = waiting.get(key);
      if (young !== undefined) {
        return valueFrom(young);
      }
      return file && attempt(() => valueFrom(opened().find(hashOf(key))));
    },
    set(key, value) {
      if (!ended && (waiting.size < waitingMax || waiting.has(key))) {
        waiting.set(key, JSON.stringify(value));
        flushSoon();
      }
    },
    [Symbol.dispose]() {
      while (waiting.size > 0 && writeSome()) {
        // Repeat until all values are written, or a write fails.
      }
      flushing?.cancel();
      ended = true;
      close();
    },
  };
}

interface AnswerFile {
  readonly database: DatabaseSync;
  readonly inode: number | undefined;
  find(key: Uint8Array): string | undefined;
  /** Uses one transaction. If the file becomes too large, deletes the oldest rows. */
  write(rows: readonly (readonly [key: Uint8Array, text: string])[]): true;
}

function openAnswerFile(folder: string, path: string, maxBytes: number): AnswerFile {
  makeFolder(folder);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    restrictToOwner(path);
    // With NORMAL, a power failure loses the last answers, but does not damage the file.
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
            // Repeat until the file is small enough.
          }
          return true;
        }),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
