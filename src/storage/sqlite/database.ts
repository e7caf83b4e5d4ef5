import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { now, sleep } from "../../time/time.ts";
import { StoreUnavailable, type StoreWatch, unwatched } from "../ports.ts";

/** Never change a migration that was released. Append a new migration instead. */
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
  `ALTER TABLE api_key ADD COLUMN issued_within TEXT;
   ALTER TABLE api_key ADD COLUMN idempotency_key TEXT;
   CREATE INDEX api_key_issued_within ON api_key (issued_within, created_at) WHERE issued_within IS NOT NULL;
   CREATE INDEX api_key_wished ON api_key (issued_to, idempotency_key) WHERE idempotency_key IS NOT NULL;
   CREATE INDEX api_key_revoked ON api_key (revoked_at) WHERE revoked_at IS NOT NULL;
   CREATE INDEX api_key_unused ON api_key (max(created_at, coalesce(last_used_at, 0))) WHERE issued_to IS NOT NULL;
   CREATE INDEX engine_time_ended ON engine_time (resets_at);
   CREATE TABLE issued_keys (kept INTEGER NOT NULL) STRICT;
   INSERT INTO issued_keys SELECT count(*) FROM api_key WHERE issued_to IS NOT NULL;
   CREATE TRIGGER api_key_kept AFTER INSERT ON api_key WHEN NEW.issued_to IS NOT NULL
     BEGIN UPDATE issued_keys SET kept = kept + 1; END;
   CREATE TRIGGER api_key_forgotten AFTER DELETE ON api_key WHEN OLD.issued_to IS NOT NULL
     BEGIN UPDATE issued_keys SET kept = kept - 1; END;`,
  // Detects that the operator has changed the pepper: keys that were hashed with another pepper do not work.
  "CREATE TABLE pepper_check (value TEXT NOT NULL) STRICT;",
  `ALTER TABLE api_key ADD COLUMN expires_at INTEGER;
   ALTER TABLE api_key ADD COLUMN account TEXT;
   CREATE INDEX api_key_expires ON api_key (expires_at) WHERE expires_at IS NOT NULL;`,
  "ALTER TABLE api_key ADD COLUMN replaced_by TEXT;",
];

export function databaseFile(folder: string): string {
  return resolve(folder, "kibitz.db");
}

/** The default maximum wait in milliseconds while another process has locked the database. */
export const defaultBusyMaxMs = 5000;

/** Milliseconds between attempts to get a lock. SQLite's own wait for a lock would block the thread. */
const busyRetryMs = 10;

/** The folder or its database cannot be used. The message contains the reason. */
export class StoreUnusable extends Error {
  /** True if a newer Kibitz has migrated the database. The database itself is intact. */
  get isNewer(): boolean {
    return this.cause instanceof NewerDatabase;
  }
}

class NewerDatabase extends Error {}

export interface DatabaseOptions {
  readonly watch?: StoreWatch;
  readonly busyMaxMs?: number;
}

/** Creates the folder and the database if they do not exist. Throws StoreUnusable. */
export function openDatabase(folder: string, options?: DatabaseOptions): Database {
  const file = databaseFile(folder);
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    const database = new Database(file, options);
    try {
      // Use WAL, so that reads do not wait for writes. Use FULL, because a new key must survive a power failure.
      restrictToOwner(file);
      database.waitForRestore();
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      migrate(database);
      // Turn off SQLite's own wait for locks, which would block the thread. `read` and `write` wait instead.
      database.exec("PRAGMA busy_timeout = 0");
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw unusable(file, error);
  }
}

/**
 * Reads a database without changing its folder. Reads older versions as they are, so tables and columns may be missing. Throws
 * StoreUnusable.
 */
export function readDatabase<T>(file: string, read: (database: DatabaseSync) => T): T {
  const wasIdle = isIdle(file);
  let result: T;
  try {
    using database = openReadOnly(file);
    if (refuseNewer(database) < 1) {
      throw new Error("it is no database of Kibitz");
    }
    result = read(database);
  } catch (error) {
    throw unusable(file, error);
  }
  return wasIdle && !isIdle(file) ? readDatabase(file, read) : result;
}

export function openReadOnly(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  if (isIdle(file)) {
    // SQLite would create its other files also to read.
    url.searchParams.set("immutable", "1");
  }
  return new DatabaseSync(url, { readOnly: true, timeout: defaultBusyMaxMs });
}

/** True if all data is in the file itself, so that a reader needs no other file, not even on a full disk. */
function isIdle(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function unusable(file: string, cause: unknown): StoreUnusable {
  return new StoreUnusable(`${file} cannot be used: ${(cause as Error).message}`, { cause });
}

/** Run all statements within `read` or `write`, which retry while another process has locked the database. */
export class Database extends DatabaseSync {
  readonly #watch: StoreWatch;
  readonly #busyMaxMs: number;
  readonly #inode: number | undefined;
  #waitsEndAt = Number.POSITIVE_INFINITY;

  constructor(file: string, { watch = unwatched, busyMaxMs = defaultBusyMaxMs }: DatabaseOptions = {}) {
    super(file, { timeout: defaultBusyMaxMs });
    this.#watch = watch;
    this.#busyMaxMs = busyMaxMs;
    this.#inode = inodeOf(file);
  }

  /** A restore locks the earlier file until the restored file has its place. Throws StoreUnavailable if the file was replaced. */
  waitForRestore(): void {
    this.prepare("SELECT 1 FROM sqlite_schema").get();
    this.#refuseReplaced();
  }

  /** Ends all present and later waits for locks after `ms` at the latest. */
  limitWaits(ms: number): void {
    this.#waitsEndAt = Math.min(this.#waitsEndAt, now() + ms);
  }

  /** Throws StoreUnavailable. */
  read<T>(work: () => T): Promise<T> {
    return this.#retried("read", work);
  }

  /** Runs all statements in one transaction. Throws StoreUnavailable. */
  write<T>(work: () => T): Promise<T> {
    return this.#retried("write", () => this.#writeNow(work));
  }

  /** Like `write`, but does not wait for the disk. The change survives a crash of the process, but not a power failure. */
  writeUnsynced<T>(work: () => T): Promise<T> {
    return this.#retried("write", () => {
      this.exec("PRAGMA synchronous = NORMAL");
      try {
        return this.#writeNow(work);
      } finally {
        this.exec("PRAGMA synchronous = FULL");
      }
    });
  }

  /** Reads and writes, so that a failure is noticed even without requests. Throws StoreUnavailable. */
  async probe(): Promise<void> {
    await this.read(() => this.prepare("SELECT 1 FROM api_key LIMIT 1").get());
    // Read the version again, because a newer Kibitz may have migrated the database.
    await this.write(() => this.exec(`PRAGMA user_version = ${versionOf(this)}`));
  }

  #writeNow<T>(work: () => T): T {
    // Reject the write, because SQLite would still write into the deleted file, and the data would be lost.
    this.#refuseReplaced();
    return transaction(this, work);
  }

  #refuseReplaced(): void {
    const file = this.location();
    if (inodeOf(file) !== this.#inode) {
      throw new StoreUnavailable(
        `${file} was deleted or replaced while it was in use: start the server again`,
      );
    }
  }

  async #retried<T>(what: "read" | "write", work: () => T): Promise<T> {
    const until = now() + this.#busyMaxMs;
    for (;;) {
      try {
        const result = work();
        this.#watch.worked(what);
        return result;
      } catch (error) {
        if (isBusy(error) && now() < Math.min(until, this.#waitsEndAt)) {
          await sleep(busyRetryMs);
          continue;
        }
        if (!isUnavailable(error)) {
          throw error;
        }
        const { message } = error as Error;
        this.#watch.failed(what, message);
        throw new StoreUnavailable(`the database cannot be used: ${message}`, { cause: error });
      }
    }
  }
}

/** Gives access only to the owner. Node's recursive `mkdir` never returns (Node 26.10) if a parent is in `/proc`. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) {
    return;
  }
  makeFolder(dirname(resolve(folder)));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Ignore that the folder exists: another process has just created it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw error;
    }
  }
}

/** Gives access only to the owner. SQLite creates its other files with the same mode. */
export function restrictToOwner(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch {
    // Ignore the failure: the file belongs to another user, who has given access to the file on purpose.
  }
}

/** The server may run as another user than the one who restores. */
export function keepOwner(file: string, like: string): void {
  const { uid, gid } = statSync(like);
  try {
    chownSync(file, uid, gid);
  } catch {
    // Ignore the failure: only root can give files to other users.
  }
}

/** Waits until the content of the file or folder is on the disk. */
export function syncToDisk(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function migrate(database: DatabaseSync): void {
  // Write nothing if the version is current. Otherwise the start would wait for locks, and fail if the disk is full.
  if (versionOf(database) === migrations.length) {
    return;
  }
  // If two processes start at the same time, the second process waits here, and then finds the new version.
  transaction(database, () => {
    for (const migration of migrations.slice(refuseNewer(database))) {
      database.exec(migration);
    }
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/** Returns the version of the database. */
function refuseNewer(database: DatabaseSync): number {
  const version = versionOf(database);
  if (version > migrations.length) {
    throw new NewerDatabase(
      `it was written by a newer Kibitz (version ${version}, this one knows ${migrations.length})`,
    );
  }
  return version;
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

/** Rolls back if `run` throws. */
export function transaction<T>(database: DatabaseSync, run: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = run();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // Do not roll back twice: a full disk has already ended the transaction, and a second rollback would throw.
    if (database.isTransaction) {
      database.exec("ROLLBACK");
    }
    throw error;
  }
}

/** Used to notice that a file was deleted or replaced. */
export function inodeOf(file: string | null): number | undefined {
  return file === null ? undefined : statSync(file, { throwIfNoEntry: false })?.ino;
}

/** Returns SQLite's primary result code, or 0: https://www.sqlite.org/rescode.html */
function resultCodeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

/** True if the file begins as every database of SQLite. */
export function hasHeader(file: string): boolean {
  const begin = Buffer.alloc(16);
  const fd = openSync(file, "r");
  try {
    readSync(fd, begin);
  } finally {
    closeSync(fd);
  }
  return begin.toString("latin1") === "SQLite format 3\0";
}

/** True if the file is corrupt or no database. */
export function isDamaged(error: unknown): boolean {
  return [11, 26].includes(resultCodeOf(error));
}

export function isBusy(error: unknown): boolean {
  return resultCodeOf(error) === 5;
}

/** SQLite's codes for busy, locked, no memory, read-only, I/O error, corrupt, full, cannot open, lock protocol, no database. */
const unavailable: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 11, 13, 14, 15, 26]);

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || unavailable.has(resultCodeOf(error)) || isSystemError(error);
}

/** True for an error of the file system itself, such as EACCES, EIO or ESTALE. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
