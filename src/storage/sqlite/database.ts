import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable, type StoreWatch, unwatched } from "../ports.ts";

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
  // What callers get by themselves is bounded in all, and forgotten in time: each is found without reading all keys.
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
  // Keys that were hashed with another pepper than the server's are good for nothing, and nothing else would tell.
  "CREATE TABLE pepper_check (value TEXT NOT NULL) STRICT;",
];

/** What a database is like, without a change to it. */
interface DatabaseFacts {
  readonly version: number;
  /** How many keys it has, revoked ones too. */
  readonly keys: number;
  /** The check value of the pepper that its keys were hashed with; undefined if there is none, or no key that works. */
  readonly pepperCheck: string | undefined;
}

/**
 * Looks at the database in a folder; undefined where there is none.
 *
 * @throws StoreUnusable where it is damaged, or of a newer version than this one knows
 */
export function inspectDatabase(folder: string): DatabaseFacts | undefined {
  const file = databaseFile(folder);
  if (!existsSync(file)) {
    return undefined;
  }
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    const problem = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (problem !== "ok") {
      throw new Error(String(problem));
    }
    const version = versionOf(database);
    assertKnown(version);
    const firstOf = (query: string) => Object.values(database.prepare(query).get() ?? {})[0];
    const working = "SELECT 1 FROM api_key WHERE revoked_at IS NULL";
    return {
      version,
      keys: version === 0 ? 0 : Number(firstOf("SELECT count(*) FROM api_key")),
      pepperCheck:
        version < 3
          ? undefined
          : firstOf(`SELECT value FROM pepper_check WHERE EXISTS (${working})`)?.toString(),
    };
  } catch (error) {
    throw new StoreUnusable(`${file} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

const databaseFileName = "kibitz.db";

/** The whole path of the database in a folder. */
export function databaseFile(folder: string): string {
  return resolve(folder, databaseFileName);
}

/** Longest that one process waits for another one's write, in milliseconds. */
export const defaultBusyMaxMs = 5000;

/** Between two looks whether the other one has ended, in milliseconds. SQLite's own wait would hold the thread. */
const busyLookMs = 10;

/** The folder or the database in it cannot be used. The message says why. */
export class StoreUnusable extends Error {
  /** Whether a newer Kibitz has written it, so that nothing is wrong with it. */
  get isNewer(): boolean {
    return this.cause instanceof NewerDatabase;
  }
}

class NewerDatabase extends Error {}

/**
 * Opens the database in a folder, making both if they are not there. Several processes may have it open.
 *
 * @throws StoreUnusable
 */
export function openDatabase(folder: string): DatabaseSync {
  const file = databaseFile(folder);
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    const database = new DatabaseSync(file, { timeout: defaultBusyMaxMs });
    try {
      // With write-ahead logging readers never wait; FULL, because a key that was shown must survive a power cut.
      keepPrivate(file);
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      migrate(database);
      // From now on whoever finds it locked waits in `ask`, and the thread serves others meanwhile.
      database.exec("PRAGMA busy_timeout = 0");
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
export function keepPrivate(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch {
    // Somebody else's, shared with this user on purpose.
  }
}

function migrate(database: DatabaseSync): void {
  // Mostly there is nothing to do: a start does not wait for somebody who writes, nor for a disk that is full.
  if (versionOf(database) === migrations.length) {
    return;
  }
  // Two processes may start at once: the second one waits here, and finds the work done.
  transaction(database, () => {
    const version = versionOf(database);
    assertKnown(version);
    for (const migration of migrations.slice(version)) {
      database.exec(migration);
    }
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

function assertKnown(version: number): void {
  if (version > migrations.length) {
    throw new NewerDatabase(
      `it was written by a newer Kibitz (version ${version}, this one knows ${migrations.length})`,
    );
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

/** Runs writes that count all or not at all. */
export function transaction<T>(database: DatabaseSync, run: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = run();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk has ended it already: to end it again would be the error that is told.
    if (database.isTransaction) {
      database.exec("ROLLBACK");
    }
    throw error;
  }
}

/** Asks a database for work that is done at once, and again while another process has it locked. */
export interface Ask {
  /** @throws StoreUnavailable */
  read<T>(work: () => T): Promise<T>;
  /** All writes count or none. @throws StoreUnavailable */
  write<T>(work: () => T): Promise<T>;
}

export interface AskOptions {
  /** Told how every read and write went. */
  readonly watch?: StoreWatch;
  /** Longest wait for another process's write, in milliseconds. */
  readonly busyMaxMs?: number;
}

export function createAsk(
  database: DatabaseSync,
  { watch = unwatched, busyMaxMs = defaultBusyMaxMs }: AskOptions = {},
): Ask {
  const file = database.location();
  const inode = inodeOf(file);

  /** SQLite writes on into a file that was deleted, and what it holds is gone with the process. */
  function assertThere(): void {
    if (inodeOf(file) !== inode) {
      const problem = `${file} was deleted or replaced while it was in use: start the server again`;
      throw Object.assign(new Error(problem), { errcode: readonlyMoved });
    }
  }

  async function ask<T>(what: "read" | "write", work: () => T): Promise<T> {
    const until = performance.now() + busyMaxMs;
    for (;;) {
      try {
        const result = work();
        watch.worked(what);
        return result;
      } catch (error) {
        const kind = sqliteErrorOf(error);
        if (kind === busy && performance.now() < until) {
          await sleep(busyLookMs);
          continue;
        }
        if (!unavailable.has(kind)) {
          throw error;
        }
        const { message } = error as Error;
        watch.failed(what, message);
        throw new StoreUnavailable(`the database cannot be used: ${message}`, { cause: error });
      }
    }
  }
  return {
    read: (work) => ask("read", work),
    write: (work) =>
      ask("write", () => {
        assertThere();
        return transaction(database, work);
      }),
  };
}

/**
 * Tries whether a database that failed can be used again, and tells its watch: nobody else may want to write for hours. What it writes is
 * what is there.
 */
export function createTrial(database: DatabaseSync, options?: AskOptions): () => Promise<void> {
  const ask = createAsk(database, options);
  return async () => {
    await ask.read(() => database.prepare("SELECT 1 FROM api_key LIMIT 1").get());
    await ask.write(() => {
      // A newer Kibitz may have brought it further meanwhile.
      const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
      database.exec(`PRAGMA user_version = ${version}`);
    });
  };
}

/** Undefined where there is no file, as for a database in memory. */
export function inodeOf(file: string | null): number | undefined {
  return file === null ? undefined : statSync(file, { throwIfNoEntry: false })?.ino;
}

/** SQLite's primary result code: https://www.sqlite.org/rescode.html */
export function sqliteErrorOf(error: unknown): number {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
  return code & 0xff;
}

/** SQLITE_BUSY: another process has it locked. */
export const busy = 5;
/** SQLITE_READONLY_DBMOVED, which SQLite itself notices only where it opens a rollback journal. */
const readonlyMoved = 1032;

/** Locked, no memory, read-only, broken disk, corrupt, full, no file, locked, no database: not what was asked is wrong. */
const unavailable: ReadonlySet<number> = new Set([busy, 6, 7, 8, 10, 11, 13, 14, 15, 26]);

/**
 * Makes a folder, for its owner alone, with its parents. Node's own way (26.10) never returns where a file system
 * denies what it shows, as /proc does.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) {
    return;
  }
  makeFolder(dirname(resolve(folder)));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same time was quicker.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw error;
    }
  }
}
