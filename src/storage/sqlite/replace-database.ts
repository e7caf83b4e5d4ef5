import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { hasHeader, inodeOf, isBusy, isDamaged, keepOwner, syncToDisk } from "./database.ts";

/** Another process has the database open. */
export class DatabaseInUse extends Error {}

/** The files that SQLite keeps beside a database. */
const besides = ["-wal", "-shm"] as const;

const lockMaxMs = 1000;

/**
 * Puts the database `copy` into the place of `file`. Returns the new name of the earlier database, or undefined if there was none.
 * Throws DatabaseInUse. If a step fails, everything is as before, except that a file `COPY-earlier` may be left. If the process is
 * killed, either the earlier database or the copy is in place.
 */
export function replaceDatabase(file: string, copy: string): string | undefined {
  const isThere = existsSync(file);
  using _ = isThere ? lockAlone(file) : undefined;
  // Files of a database that was deleted would be read as part of the copy.
  if (!isThere && !besides.some((end) => existsSync(file + end))) {
    linkOrRename(copy, file);
    return undefined;
  }
  const aside = asideOf(file);
  using undo = new DisposableStack();
  if (isThere && !existsSync(aside)) {
    linkOrCopy(file, aside, `${copy}-earlier`);
    undo.defer(() => rmSync(aside));
  }
  for (const end of besides) {
    if (existsSync(file + end)) {
      renameSync(file + end, aside + end);
      undo.defer(() => renameSync(aside + end, file + end));
    }
  }
  if (isThere) {
    renameSync(copy, file);
  } else {
    linkOrRename(copy, file);
  }
  undo.move();
  return aside;
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

/** Gives the file a second name, or copies the file if the file system has no second names. The file keeps its first name. */
function linkOrCopy(from: string, to: string, temporary: string): void {
  try {
    linkSync(from, to);
    return;
  } catch (error) {
    if (existsSync(to)) {
      throw error;
    }
  }
  copyFileSync(from, temporary, constants.COPYFILE_EXCL);
  keepOwner(temporary, from);
  syncToDisk(temporary);
  if (statSync(temporary).size !== statSync(from).size) {
    throw new Error(`${from} was not copied completely`);
  }
  renameSync(temporary, to);
}
