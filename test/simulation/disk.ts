import * as fs from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Clock } from "./clock.ts";
import type { EngineWatch } from "./engine.ts";

/** A window of virtual time in which a file of a node goes wrong. Data that can be written as JSON. */
export type DiskFault = {
  /** The number of the node. */
  readonly node: number;
  readonly atMs: number;
  readonly forMs: number;
  readonly file: "kibitz.db" | "answers.db";
} & (
  | /** Another process has locked the database for writing. */ { readonly kind: "database is locked" }
  | { readonly kind: "disk is full" }
  | /** SQLite cannot read or write: an I/O error, a damaged database, or a file that cannot be opened. */ {
      readonly kind: "disk fails";
      readonly errcode: 10 | 11 | 14;
    }
  | { readonly kind: "stat fails"; readonly code: "EACCES" | "EIO" | "ESTALE" }
  | /** Once, at the beginning of the window. */ { readonly kind: "file is deleted" | "file is replaced" }
);

/** The files of all nodes. They survive the end of a node. */
interface Disk extends Disposable {
  /** The data folder of a node. */
  folderOf(node: number): string;
}

interface DiskOptions {
  readonly faults: readonly DiskFault[];
  readonly clock: Clock;
  readonly watch: Pick<EngineWatch, "trace" | "count">;
}

/** A database is in memory. Its connections come and go. */
interface File {
  readonly inode: number;
  readonly database: DatabaseSync;
}

type Operation = "read" | "write" | "begin" | "stat";

interface MountedDisk {
  readonly folders: Set<string>;
  readonly files: Map<string, File>;
  create(path: string): File;
  /** Throws if a fault makes the operation fail. */
  check(path: string, operation: Operation): void;
}

/** The disk of the simulation that is running: modules cannot be loaded again for each simulation. */
let mounted: MountedDisk | undefined;

function disk(): MountedDisk {
  if (mounted === undefined) {
    throw new Error("no simulation is running");
  }
  return mounted;
}

const folderOf = (node: number) => `/simulated/node-${node}`;

/** From now on, the modules {@link simulatedSqlite} and {@link simulatedFs} use this disk. */
export function mountDisk({ faults, clock, watch }: DiskOptions): Disk {
  const files = new Map<string, File>();
  const databases: DatabaseSync[] = [];
  const seen = new Set<string>();

  function note(fault: DiskFault, operation: Operation): void {
    const key = `${faults.indexOf(fault)} ${operation}`;
    if (!seen.has(key)) {
      seen.add(key);
      watch.count(fault.kind);
      watch.count(`${fault.kind}, ${operation}`);
      watch.trace(() => `node ${fault.node}: ${wordsOf(fault)} (${operation} of ${fault.file})`);
    }
  }

  function create(path: string): File {
    const database = new DatabaseSync(":memory:");
    databases.push(database);
    const file = { inode: databases.length, database };
    files.set(path, file);
    return file;
  }

  for (const fault of faults) {
    if (fault.kind === "file is deleted" || fault.kind === "file is replaced") {
      const path = `${folderOf(fault.node)}/${fault.file}`;
      clock.process("disk").run(() =>
        clock.at(fault.atMs, () => {
          if (files.delete(path)) {
            note(fault, "write");
            if (fault.kind === "file is replaced") {
              create(path);
            }
          }
        }),
      );
    }
  }

  mounted = {
    folders: new Set(),
    files,
    create,
    check(path, operation) {
      const now = clock.now();
      for (const fault of faults) {
        const isHere = path === `${folderOf(fault.node)}/${fault.file}`;
        if (isHere && fault.atMs <= now && now < fault.atMs + fault.forMs) {
          const error = errorOf(fault, path, operation);
          if (error) {
            note(fault, operation);
            throw error;
          }
        }
      }
    },
  };
  return {
    folderOf,
    [Symbol.dispose]() {
      mounted = undefined;
      for (const database of databases) {
        database.close();
      }
    },
  };
}

function wordsOf(fault: DiskFault): string {
  switch (fault.kind) {
    case "stat fails":
      return `stat fails with ${fault.code}`;
    case "disk fails":
      return `the disk fails: ${messages[fault.errcode]}`;
    default:
      return `the ${fault.kind}`;
  }
}

const messages = {
  5: "database is locked",
  10: "disk I/O error",
  11: "database disk image is malformed",
  13: "database or disk is full",
  14: "unable to open database file",
} as const;

/** Returns the error that node:sqlite or node:fs throws, or undefined if the fault does not concern the operation. */
function errorOf(fault: DiskFault, path: string, operation: Operation): Error | undefined {
  switch (fault.kind) {
    case "stat fails":
      return operation === "stat" ? systemError(fault.code, path) : undefined;
    case "database is locked":
      // With a write-ahead log, reads do not wait for writes.
      return operation === "begin" ? sqliteError(5) : undefined;
    case "disk is full":
      return operation === "write" ? sqliteError(13) : undefined;
    case "disk fails":
      return operation === "stat" ? undefined : sqliteError(fault.errcode);
    default:
      return undefined;
  }
}

function sqliteError(errcode: keyof typeof messages): Error {
  const errstr = messages[errcode];
  return Object.assign(new Error(errstr), { code: "ERR_SQLITE_ERROR", errcode, errstr });
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: stat '${path}'`), { code, syscall: "stat", path });
}

const isWrite = /^\s*(INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA user_version =)/i;

/** A connection to a file of the simulated disk, with the errors of real connections. */
class SimulatedDatabaseSync {
  readonly #path: string;
  readonly #real: DatabaseSync;
  /** SQLite itself waits for a lock. */
  #waits: boolean;
  #isOpen = true;

  constructor(path: string, { timeout = 0 } = {}) {
    this.#path = path;
    this.#waits = timeout > 0;
    this.#check("read");
    this.#real = (disk().files.get(path) ?? disk().create(path)).database;
  }

  get isTransaction(): boolean {
    return this.#real.isTransaction;
  }

  location(): string {
    return this.#path;
  }

  exec(sql: string): void {
    this.#assertOpen();
    if (sql.startsWith("PRAGMA busy_timeout")) {
      this.#waits = false;
    } else if (sql.startsWith("BEGIN")) {
      this.#checkLock();
    } else if (sql !== "ROLLBACK") {
      this.#check(isWrite.test(sql) || sql === "COMMIT" ? "write" : "read");
    }
    this.#real.exec(sql);
  }

  prepare(sql: string): Pick<StatementSync, "get" | "all" | "run"> {
    this.#assertOpen();
    this.#check("read");
    const statement = this.#real.prepare(sql);
    const operation = isWrite.test(sql) ? "write" : "read";
    const checked = <Run extends (...values: never[]) => unknown>(run: Run): Run =>
      ((...values: Parameters<Run>) => {
        this.#assertOpen();
        this.#check(operation);
        return run.apply(statement, values);
      }) as Run;
    return {
      get: checked(statement.get),
      all: checked(statement.all),
      run: checked(statement.run),
    };
  }

  close(): void {
    this.#assertOpen();
    this.#isOpen = false;
  }

  [Symbol.dispose](): void {
    this.#isOpen = false;
  }

  #checkLock(): void {
    if (!this.#waits) {
      this.#check("begin");
    }
  }

  #check(operation: Operation): void {
    try {
      disk().check(this.#path, operation);
    } catch (error) {
      // As SQLite does if the disk is full, or fails.
      if (this.#isOpen && this.#real?.isTransaction) {
        this.#real.exec("ROLLBACK");
      }
      throw error;
    }
  }

  #assertOpen(): void {
    if (!this.#isOpen) {
      throw Object.assign(new Error("database is not open"), { code: "ERR_INVALID_STATE" });
    }
  }
}

/** Replaces `node:sqlite` in `src/storage`. */
export const simulatedSqlite = { DatabaseSync: SimulatedDatabaseSync };

const isSimulated = (path: string) => /^\/simulated(\/|$)/.test(path);

/** Replaces functions of `node:fs`. Other files than those of a simulated disk are real. */
export const simulatedFs = {
  accessSync(path: string, mode?: number): void {
    if (!isSimulated(path)) {
      fs.accessSync(path, mode);
    }
  },
  chmodSync(path: string, mode: number): void {
    if (!isSimulated(path)) {
      fs.chmodSync(path, mode);
    }
  },
  existsSync(path: string): boolean {
    return isSimulated(path) ? disk().folders.has(path) || disk().files.has(path) : fs.existsSync(path);
  },
  mkdirSync(path: string, options?: fs.MakeDirectoryOptions): void {
    if (isSimulated(path)) {
      disk().folders.add(path);
    } else {
      fs.mkdirSync(path, options);
    }
  },
  statSync(path: string, options?: fs.StatSyncOptions): { readonly ino: number } | undefined {
    if (!isSimulated(path)) {
      return fs.statSync(path, options as never);
    }
    disk().check(path, "stat");
    const file = disk().files.get(path);
    return file && { ino: file.inode };
  },
  rmSync(path: string, options?: fs.RmOptions): void {
    if (isSimulated(path)) {
      disk().check(path, "stat");
      disk().files.delete(path);
    } else {
      fs.rmSync(path, options);
    }
  },
};
