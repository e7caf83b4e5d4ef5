import { hash } from "node:crypto";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type AnswerStore, type AnswerStoreWatch, unwatched } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import {
  type AnswerFile,
  type AnswerRow,
  answerFileName,
  isDamage,
  openAnswerFile,
  setAside,
} from "./answer-file.ts";
import { busy, sqliteErrorOf } from "./database.ts";

export interface AnswerStoreOptions<T> {
  /** Of the file. It takes some megabytes more: a log before it, and what is written while older ones go. */
  readonly bytes: number;
  readonly format: ValueFormat<T>;
  readonly watch?: AnswerStoreWatch;
  /** Longest until a value is written, in milliseconds: so much a killed process forgets. */
  readonly flushMs?: number;
  /** Between two notes of what was used, in milliseconds. */
  readonly touchMs?: number;
  /** After a failure, until the file is tried again, in milliseconds. */
  readonly retryMs?: number;
  /** How long another process may have it locked before that counts as a failure, in milliseconds. */
  readonly busyMaxMs?: number;
}

/** Rows that are written in one go: a millisecond. */
const rowsAtOnce = 16;
const touchedAtOnce = 50;
/** What waits for the file, at most: more is forgotten where the disk is full or another process has it locked. */
const waitingMax = 2000;
const touchedMax = 1000;
const spoiltMax = 1000;
/** Between two goes where more wait, in milliseconds. */
const pauseMs = 2;

/**
 * Answers in SQLite, in a file of their own. Reads are done at once, some microseconds each; writes are done together, a few at
 * a time, behind the answers. No lock is waited for, and no disk.
 */
export function openSqliteAnswerStore<T>(
  folder: string,
  {
    bytes,
    format,
    watch = { ...unwatched, setAside() {} },
    flushMs = 150,
    touchMs = 10_000,
    retryMs = 1000,
    busyMaxMs = 5000,
  }: AnswerStoreOptions<T>,
): AnswerStore<T> {
  /** By key, in the order in which they came. */
  const waiting = new Map<string, string>();
  const spoilt = new Set<string>();
  const touched = new Set<string>();
  let file: AnswerFile | undefined;
  /** By `performance.now()`, as the others. */
  let openAgainAt = Number.NEGATIVE_INFINITY;
  let busySince: number | undefined;
  let ended = false;
  const failing = new Set<"read" | "write">();
  let flushing: NodeJS.Timeout | undefined;
  let touching: NodeJS.Timeout | undefined;

  const hashOf = (key: string): Uint8Array => hash("sha256", `${format.version}|${key}`, "buffer");

  function closeFile(): void {
    file?.close();
    file = undefined;
  }

  /** Asks the file, and opens it first if need be. Undefined where that fails, which is told. */
  function ask<R>(what: "read" | "write", work: (file: AnswerFile) => R): R | undefined {
    if (ended || (file === undefined && performance.now() < openAgainAt)) {
      return undefined;
    }
    try {
      if (what === "write" && file?.isThere() === false) {
        closeFile();
      }
      file ??= openAnswerFile(folder, watch.setAside);
      const result = work(file);
      if (what === "write") {
        busySince = undefined;
      }
      if (failing.delete(what)) {
        watch.worked(what);
      }
      return result;
    } catch (error) {
      const now = performance.now();
      if (file === undefined) {
        openAgainAt = now + retryMs;
      }
      // Others write as shortly as this process: that is no failure unless it lasts.
      if (sqliteErrorOf(error) === busy) {
        busySince ??= now;
        if (now - busySince < busyMaxMs) {
          return undefined;
        }
      }
      const { message } = error as Error;
      const failed = file === undefined ? "write" : what;
      failing.add(failed);
      watch.failed(failed, message);
      if (file !== undefined && isDamage(error)) {
        replaceFile(file, message);
      }
      return undefined;
    }
  }

  function replaceFile(damaged: AnswerFile, why: string): void {
    openAgainAt = performance.now() + retryMs;
    try {
      const isThere = damaged.isThere();
      closeFile();
      // Else another process has replaced it.
      if (isThere) {
        watch.setAside(setAside(join(folder, answerFileName)), why);
      }
    } catch {
      // It is tried again, and what is wrong has been told.
    }
  }

  function valueFrom(text: string): T | undefined {
    try {
      return format.read(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  function valueOfRow({ text, checksum }: AnswerRow, key: Uint8Array): T | undefined {
    const isWhole = typeof text === "string" && checksum === BigInt(checksumOf(text, key));
    return isWhole ? valueFrom(text) : undefined;
  }

  /** Writes some of what waits. False where that failed. */
  function writeSome(): boolean {
    const some = [...waiting.entries().take(rowsAtOnce)];
    const worthless = [...spoilt.values().take(rowsAtOnce)];
    const rows = some.map(([key, text]) => {
      const hashed = hashOf(key);
      return { key: hashed, text, checksum: checksumOf(text, hashed) };
    });
    const written = ask("write", (opened) => {
      opened.write({ rows, spoilt: worthless.map(hashOf) }, bytes);
      return true;
    });
    if (written === undefined) {
      return false;
    }
    for (const [key, text] of some) {
      if (waiting.get(key) === text) {
        waiting.delete(key);
      }
    }
    for (const key of worthless) {
      spoilt.delete(key);
    }
    return true;
  }

  const hasMore = () => waiting.size > 0 || spoilt.size > 0;

  function flushSoon(ms = flushMs): void {
    flushing ??= setTimeout(() => {
      flushing = undefined;
      const went = writeSome();
      if (hasMore()) {
        flushSoon(went ? pauseMs : busySince === undefined ? retryMs : flushMs);
      }
    }, ms).unref();
  }

  function touchSoon(ms = touchMs): void {
    touching ??= setTimeout(() => {
      touching = undefined;
      touchSome();
      if (touched.size > 0) {
        touchSoon(pauseMs);
      }
    }, ms).unref();
  }

  /** What cannot be noted is as if it had not been used. */
  function touchSome(): void {
    const some = [...touched.values().take(touchedAtOnce)];
    ask("write", (opened) => opened.touch(some.map(hashOf)));
    for (const key of some) {
      touched.delete(key);
    }
  }

  function touch(key: string): void {
    if (touched.size < touchedMax) {
      touched.add(key);
      touchSoon();
    }
  }

  ask("write", () => {});
  return {
    get(key) {
      const young = waiting.get(key);
      if (young !== undefined) {
        return valueFrom(young);
      }
      const hashed = hashOf(key);
      const row = ask("read", (opened) => opened.find(hashed));
      if (row === undefined) {
        return undefined;
      }
      const value = valueOfRow(row, hashed);
      if (value !== undefined) {
        touch(key);
      } else if (spoilt.size < spoiltMax) {
        spoilt.add(key);
        flushSoon();
      }
      return value;
    },
    set(key, value) {
      // Behind those that wait already, and in the place of what may be there.
      waiting.delete(key);
      spoilt.delete(key);
      if (!ended && waiting.size < waitingMax) {
        waiting.set(key, JSON.stringify(value));
        flushSoon();
      }
    },
    touch,
    [Symbol.dispose]() {
      clearTimeout(flushing);
      clearTimeout(touching);
      file?.waitForOthers();
      while (touched.size > 0) {
        touchSome();
      }
      while (hasMore() && writeSome()) {
        // Until nothing is left, or it fails.
      }
      closeFile();
      ended = true;
    },
  };
}

/** Of a value and the key that it was written for: a row that got into the place of another one is none. */
function checksumOf(text: string, key: Uint8Array): number {
  return crc32(text, crc32(key));
}
