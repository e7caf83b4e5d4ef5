import { existsSync, linkSync, renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { hasHeader, inodeOf, isBusy, isDamaged } from "./database.ts";

/** Another process has the database open. */
export class DatabaseInUse extends Error {}

/** The files that SQLite keeps beside a database. */
const besides = ["-wal", "-shm"] as const;

const lockMaxMs = 1000;

/**
 * Puts the database `copy` into the place of `file`. Returns the new name of the earlier database, or undefined if there was none.
 * Throws DatabaseInUse. If the process is killed, either the earlier database or the copy is in place.
 */
export function replaceDatabase(file: string, copy: string): string | undefined {
  if (!existsSync(file)) {
    // Files of a database that was deleted would be read as part of the copy.
    const aside = besides.some((end) => existsSync(file + end)) ? asideOf(file) : undefined;
    moveBesides(file, aside);
    linkOrRename(copy, file);
    return aside;
  }
  const lock = lockAlone(file);
  try {
    const aside = asideOf(file);
    if (!existsSync(aside)) {
      linkOrRename(file, aside);
    }
    moveBesides(file, aside);
    renameSync(copy, file);
    return aside;
  } finally {
    lock?.close();
  }
}

/**
 * Locks the database against all other processes, and writes its log into its file. Returns undefined if the file is damaged: then
 * SQLite cannot lock it. A server that has a replaced database open refuses writes.
 */
function lockAlone(file: string): DatabaseSync | undefined {
  if (!hasHeader(file)) {
    // Do not open the file, because SQLite would delete its log.
    return undefined;
  }
  const database = new DatabaseSync(file, { timeout: lockMaxMs });
  const read = () => database.prepare("SELECT count(*) FROM sqlite_schema").get();
  try {
    // In this mode, SQLite gets a database in WAL mode only if no other process has it open.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    read();
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL");
    read();
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) {
      throw new DatabaseInUse(`a server or another command has ${file} open`);
    }
    if (isDamaged(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Returns the first name that is free, or that an interrupted call has already given to the same file. */
function asideOf(file: string): string {
  for (let number = 1; ; number++) {
    const name = `${file}.before-restore${number === 1 ? "" : `-${number}`}`;
    const isOther = existsSync(name) && inodeOf(name) !== inodeOf(file);
    if (!isOther && !besides.some((end) => existsSync(name + end))) {
      return name;
    }
  }
}

function moveBesides(file: string, aside: string | undefined): void {
  for (const end of besides) {
    if (aside !== undefined && existsSync(file + end)) {
      renameSync(file + end, aside + end);
    }
  }
}

/** Gives the file a second name that must not exist. Some file systems have no second names: there, the file loses its first name. */
export function linkOrRename(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (existsSync(to) || (error as NodeJS.ErrnoException).code === "ENOENT") {
      throw error;
    }
    renameSync(from, to);
  }
}
