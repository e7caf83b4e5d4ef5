import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../src/storage/ports.ts";
import { openDatabase, StoreUnusable } from "../../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { keyRecord, testKeyStore, testUsageStore } from "../contract/access-stores.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const root = useTemporaryFolder();
const open = new Set<DatabaseSync>();
let folders = 0;

function openIn(folder: string): DatabaseSync {
  const database = openDatabase(folder);
  open.add(database);
  return database;
}

const openNew = () => openIn(join(root, String(folders++)));

afterEach(() => {
  for (const database of open) {
    database.close();
  }
  open.clear();
});

testKeyStore("SQLite", () => createSqliteKeyStore(openNew()));
testUsageStore("SQLite", () => createSqliteUsageStore(openNew()));

describe("a database", () => {
  test("is made with its folders, and found again with all that is in it", async () => {
    const folder = join(root, "not", "there", "yet");
    const first = openDatabase(folder);
    await createSqliteKeyStore(first).create(keyRecord({ id: "a" }));
    first.close();
    expect(await createSqliteKeyStore(openIn(folder)).findById("a")).toMatchObject({ id: "a" });
  });

  test("is open to several processes: what one writes, the other reads at once", async () => {
    const folder = join(root, "two");
    const [one, other] = [openIn(folder), openIn(folder)].map((database) => createSqliteKeyStore(database));
    await one?.create(keyRecord({ id: "a" }));
    expect(await other?.findById("a")).toMatchObject({ id: "a", revokedAt: undefined });
    await other?.revoke("a", 5);
    expect(await one?.findById("a")).toMatchObject({ revokedAt: 5 });
  });

  test.each([
    ["deleted", (folder: string) => rmSync(folder, { recursive: true })],
    [
      "replaced",
      (folder: string) => {
        renameSync(folder, `${folder} before`);
        openIn(folder);
      },
    ],
  ])(
    "that was %s while it was in use takes no more writes: they would be gone with the process",
    async (_, act) => {
      const folder = join(root, String(folders++));
      const keys = createSqliteKeyStore(openIn(folder));
      await keys.create(keyRecord({ id: "a" }));
      act(folder);
      await expect(keys.create(keyRecord({ id: "b", hash: "b" }))).rejects.toThrow(StoreUnavailable);
      await expect(keys.create(keyRecord({ id: "b", hash: "b" }))).rejects.toThrow("start the server again");
      expect(await keys.findById("a")).toMatchObject({ id: "a" });
    },
  );

  test("writes ahead, and waits for the disk", () => {
    const database = openNew();
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  });

  test("of a newer Kibitz is left alone, and told", () => {
    const folder = join(root, "newer");
    openIn(folder).exec("PRAGMA user_version = 99");
    expect(() => openDatabase(folder)).toThrow(/newer Kibitz \(version 99/);
  });

  test("is brought up from nothing once, however often it is opened", () => {
    const folder = join(root, "again");
    const version = () => openIn(folder).prepare("PRAGMA user_version").get();
    expect(version()).toEqual(version());
  });

  test.each([
    ["where a file stands", "file"],
    ["below a file", "file/below"],
  ])("that cannot be made %s says so", (_, name) => {
    writeFileSync(join(root, "file"), "");
    expect(() => openDatabase(join(root, name))).toThrow(StoreUnusable);
    expect(() => openDatabase(join(root, name))).toThrow(join(root, name));
  });

  test("that is no database says so", () => {
    const folder = join(root, "garbage");
    openDatabase(folder).close();
    writeFileSync(join(folder, "kibitz.db"), "no database at all, but long enough to have a header");
    expect(() => openDatabase(folder)).toThrow(StoreUnusable);
  });
});
