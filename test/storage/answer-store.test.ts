import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AnswerStore } from "../../src/storage/ports.ts";
import { type AnswerStoreOptions, openSqliteAnswerStore } from "../../src/storage/sqlite/answer-store.ts";
import { testCache } from "../contract/store.ts";
import { folderIsUnreachable } from "../faults/shortages.ts";
import { patienceMs } from "../support/patience.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

interface Value {
  readonly text: string;
}
const isValue = (json: unknown): json is Value =>
  typeof json === "object" && json !== null && "text" in json && typeof json.text === "string";
const format = { version: 1, read: (json: unknown) => (isValue(json) ? json : undefined) };

const root = useTemporaryFolder();
const opened = new Set<AnswerStore<unknown>>();
let folders = 0;
const newFolder = () => join(root, String(folders++));

/** Opens a store that writes immediately. `said` contains the failures that the store reports. */
function openIn(folder: string, overrides: Partial<AnswerStoreOptions<Value>> = {}) {
  const said: string[] = [];
  const store = openSqliteAnswerStore(folder, {
    bytes: 1e6,
    format,
    flushMs: 1,
    retryMs: 20,
    watch: {
      worked() {},
      failed: (what, why) => said.push(`${what}: ${why}`),
    },
    ...overrides,
  });
  opened.add(store);
  return { store, said };
}

/** Closes all stores and opens a store as a new process would. */
function openedAnew(folder: string, overrides: Partial<AnswerStoreOptions<Value>> = {}) {
  for (const store of opened) {
    store[Symbol.dispose]();
  }
  opened.clear();
  return openIn(folder, overrides);
}

function withDatabase<T>(folder: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(folder, "answers.db"));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const rowsIn = (folder: string) =>
  withDatabase(folder, (database) =>
    Number(database.prepare("SELECT count(*) AS rows FROM answer").get()?.rows),
  );
const fill = (store: AnswerStore<Value>, keys: readonly string[], text = "x".repeat(1000)) =>
  keys.forEach((key) => void store.set(key, { text }));
const keysOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`);

afterEach(() => {
  for (const store of opened) {
    store[Symbol.dispose]();
  }
  opened.clear();
});

const anything = { version: 1, read: (json: unknown) => json as Value & { numbers: readonly number[] } };
testCache("SQLite, before it is written", () => {
  const store = openSqliteAnswerStore(newFolder(), { bytes: 1e6, format: anything, flushMs: 60_000 });
  opened.add(store);
  return store;
});
testCache("SQLite, read from its file", () => {
  const folder = newFolder();
  const options = { bytes: 1e6, format: anything };
  // The value is written to the file before each test.
  return {
    get(key) {
      using store = openSqliteAnswerStore(folder, options);
      return store.get(key);
    },
    set(key, value) {
      using store = openSqliteAnswerStore(folder, options);
      store.set(key, value);
    },
  };
});

describe("stored answers", () => {
  test("stored answers are found by other processes and after a restart", async () => {
    const folder = newFolder();
    const { store } = openIn(folder);
    const { store: other } = openIn(folder);
    store.set("a", { text: "one" });
    await vi.waitFor(() => expect(other.get("a")).toEqual({ text: "one" }), patienceMs);
    expect(openedAnew(folder).store.get("a")).toEqual({ text: "one" });
  });

  test("stored answers are written in small groups, and the remaining answers are written when the store is closed", async () => {
    const folder = newFolder();
    const { store } = openIn(folder);
    fill(store, keysOf("early", 200));
    await vi.waitFor(() => expect(rowsIn(folder)).toBe(200), patienceMs);
    fill(store, keysOf("late", 200));
    openedAnew(folder);
    expect(rowsIn(folder)).toBe(400);
  });

  test("stored answers in another format version are ignored", () => {
    const folder = newFolder();
    openIn(folder).store.set("a", { text: "one" });
    expect(openedAnew(folder, { format: { ...format, version: 2 } }).store.get("a")).toBeUndefined();
    expect(openedAnew(folder).store.get("a")).toEqual({ text: "one" });
  });

  test("only the owner can read the file of stored answers", () => {
    const folder = newFolder();
    const { store } = openIn(folder);
    store.set("a", { text: "one" });
    for (const name of readdirSync(folder)) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
  });

  test("stored answers use no more disk space than allowed, and the oldest answers are evicted first", () => {
    const folder = newFolder();
    const bytes = 400_000;
    const { store } = openIn(folder, { bytes });
    const first = keysOf("first", 100);
    fill(store, first);
    const { store: later } = openedAnew(folder, { bytes });
    fill(later, keysOf("second", 250));
    const { store: last } = openedAnew(folder, { bytes });
    expect(first.slice(0, 30).filter((key) => last.get(key) !== undefined)).toEqual([]);
    expect(last.get("first 99")).toBeDefined();
    expect(last.get("second 249")).toBeDefined();
    for (let round = 0; round < 10; round++) {
      fill(last, keysOf(`round ${round}`, 100));
    }
    openedAnew(folder, { bytes });
    const size = statSync(join(folder, "answers.db")).size;
    expect(size).toBeLessThan(bytes + 100_000);
    expect(size).toBeGreaterThan(bytes / 2);
  });

  test("long stored answers use no more disk space than allowed", () => {
    const folder = newFolder();
    const bytes = 400_000;
    fill(openIn(folder, { bytes }).store, keysOf("short", 600), "x".repeat(500));
    fill(openedAnew(folder, { bytes }).store, keysOf("long", 120), "x".repeat(6000));
    openedAnew(folder, { bytes });
    expect(statSync(join(folder, "answers.db")).size).toBeLessThan(bytes + 150_000);
  });

  test("a file of stored answers that is larger than a new limit is replaced by an empty file", () => {
    const folder = newFolder();
    fill(openIn(folder).store, keysOf("ours", 200));
    const { store, said } = openedAnew(folder, { bytes: 100_000 });
    store.set("new", { text: "one" });
    expect(said).toEqual([expect.stringMatching(/^write: its file is larger than the 100000 bytes/)]);
    openedAnew(folder);
    expect(rowsIn(folder)).toBe(1);
  });

  test("a closed store of answers discards new answers", () => {
    const folder = newFolder();
    const { store } = openIn(folder);
    openedAnew(folder);
    rmSync(folder, { recursive: true });
    fill(store, ["late"]);
    expect(store.get("late")).toBeUndefined();
    store[Symbol.dispose]();
    expect(existsSync(folder)).toBe(false);
  });

  test("a stored answer of an unexpected type is ignored", () => {
    const folder = newFolder();
    const { store } = openIn(folder, { format: anything });
    store.set("a", { numbers: [1] } as never);
    expect(openedAnew(folder).store.get("a")).toBeUndefined();
  });
});

describe("an unusable file", () => {
  const fileOfEarlierVersion = (folder: string) =>
    withDatabase(folder, (database) =>
      database.exec(
        "CREATE TABLE answer (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, text TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT",
      ),
    );
  test.each<[string, (folder: string) => void, RegExp]>([
    [
      "is not a database",
      (folder) => writeFileSync(join(folder, "answers.db"), "x".repeat(5000)),
      /not a database/,
    ],
    ["has a table of an earlier version", fileOfEarlierVersion, /NOT NULL constraint failed/],
    [
      "has an answer that is not JSON",
      (folder) => {
        openIn(folder).store.set("a", { text: "one" });
        openedAnew(folder);
        withDatabase(folder, (database) => database.exec("UPDATE answer SET text = 'none'"));
      },
      /JSON/,
    ],
  ])(
    "a file of stored answers that %s is reported once, and replaced by an empty file",
    async (_, make, why) => {
      const folder = newFolder();
      mkdirSync(folder);
      make(folder);
      const { store, said } = openedAnew(folder);
      expect(store.get("a")).toBeUndefined();
      store.set("b", { text: "new" });
      await vi.waitFor(() => expect(rowsIn(folder)).toBe(1), patienceMs);
      expect(said).toEqual([expect.stringMatching(why)]);
      expect(openedAnew(folder).store.get("b")).toEqual({ text: "new" });
    },
  );

  test("a replaced file of stored answers is reported as usable before an answer is stored", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "answers.db"), "x".repeat(5000));
    const worked = vi.fn();
    openIn(folder, { watch: { worked, failed() {} } });
    expect(worked).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(worked).toHaveBeenCalledExactlyOnceWith("write"), patienceMs);
  });

  test("if a file of stored answers is damaged during use, a new file replaces the damaged file and stores new answers", async () => {
    const folder = newFolder();
    fill(openIn(folder).store, keysOf("old", 300));
    const { store, said } = openedAnew(folder);
    const file = join(folder, "answers.db");
    const { size } = statSync(file);
    truncateSync(file, 4096);
    truncateSync(file, size);
    expect(store.get("old 3")).toBeUndefined();
    store.set("a", { text: "one" });
    await vi.waitFor(() => expect(rowsIn(folder)).toBe(1), patienceMs);
    expect(said).toEqual([expect.stringMatching(/malformed|not a database/)]);
    expect(openedAnew(folder).store.get("a")).toEqual({ text: "one" });
  });

  test.each(["answers.db", ""])(
    "a file of stored answers is created again if the file or its folder was deleted: case %#",
    async (gone) => {
      const folder = newFolder();
      const { store, said } = openIn(folder);
      fill(store, ["a", "b"]);
      await vi.waitFor(() => expect(rowsIn(folder)).toBe(2), patienceMs);
      rmSync(join(folder, gone), { recursive: true });
      fill(store, ["c"]);
      await vi.waitFor(() => expect(existsSync(join(folder, "answers.db"))).toBe(true), patienceMs);
      await vi.waitFor(() => expect(rowsIn(folder)).toBe(1), patienceMs);
      expect([store.get("a"), store.get("c")]).toEqual([undefined, { text: expect.any(String) }]);
      expect(said).toEqual([]);
    },
  );

  test("creating the folder for stored answers is retried if it fails", async () => {
    const folder = newFolder();
    writeFileSync(folder, "a file");
    const { store, said } = openIn(folder);
    fill(store, ["a"]);
    await sleep(50);
    expect(store.get("a")).toBeDefined();
    expect(said[0]).toMatch(/^write: .*(ENOTDIR|EEXIST|unable to open)/);
    rmSync(folder);
    await vi.waitFor(() => expect(rowsIn(folder)).toBe(1), patienceMs);
  });

  test("if the folder of stored answers becomes unreachable, the store reports one failure after the other, never throws, and writes all waiting answers later", async () => {
    const folder = newFolder();
    const { store, said } = openIn(folder);
    fill(store, ["a"]);
    await vi.waitFor(() => expect(rowsIn(folder)).toBe(1), patienceMs);
    folderIsUnreachable.begin(folder);
    const end = () => folderIsUnreachable.end(folder);
    onTestFinished(end);
    fill(store, ["b"]);
    await vi.waitFor(() => expect(said.length).toBeGreaterThan(1), patienceMs);
    expect(said[0]).toMatch(/^write: ELOOP/);
    expect([store.get("a"), store.get("b")]).toEqual([undefined, { text: expect.any(String) }]);
    end();
    await vi.waitFor(() => expect(rowsIn(folder)).toBe(2), patienceMs);
    expect([store.get("a"), store.get("b")]).toEqual(Array(2).fill({ text: expect.any(String) }));
  });

  test("closing a store of answers whose folder is unreachable does not throw", () => {
    const folder = newFolder();
    const { store } = openIn(folder);
    fill(store, ["a"]);
    folderIsUnreachable.begin(folder);
    onTestFinished(() => folderIsUnreachable.end(folder));
    expect(() => store[Symbol.dispose]()).not.toThrow();
  });
});

describe("a locked file", () => {
  test("stored answers are written later without an error if another process has locked their file", async () => {
    const folder = newFolder();
    const { store, said } = openIn(folder);
    const other = new DatabaseSync(join(folder, "answers.db"));
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    fill(store, keysOf("new", 100));
    expect(store.get("unknown")).toBeUndefined();
    await sleep(50);
    expect(rowsIn(folder)).toBe(0);
    other.exec("ROLLBACK");
    await vi.waitFor(() => expect(rowsIn(folder)).toBe(100), patienceMs);
    expect(said).toEqual([]);
  });

  test("at most 2000 answers are kept in memory while another process has locked the file of stored answers", async () => {
    const folder = newFolder();
    const { store } = openIn(folder);
    const other = new DatabaseSync(join(folder, "answers.db"));
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    fill(store, keysOf("new", 3000), "x");
    other.exec("ROLLBACK");
    await vi.waitFor(() => expect(rowsIn(folder)).toBe(2000), patienceMs);
  });
});
