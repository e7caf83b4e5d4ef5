import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test, vi } from "vitest";
import { StoreUnavailable } from "../../src/storage/ports.ts";
import { type Database, openDatabase, StoreUnusable } from "../../src/storage/sqlite/database.ts";
import { createSqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { issueTerms, keyRecord, testKeyStore, testUsageStore } from "../contract/access-stores.ts";
import { testKeyRules } from "../contract/key-rules.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const root = useTemporaryFolder();
const firstSchema = `
  CREATE TABLE api_key (
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
  ) STRICT, WITHOUT ROWID;`;

const open = new Set<Database>();
let folders = 0;

function openIn(folder: string): Database {
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
testKeyRules("SQLite", () => createSqliteKeyStore(openNew()));
testUsageStore("SQLite", () => createSqliteUsageStore(openNew()));

test("a missing database is created together with its folders, and still has its content when the database is opened again", async () => {
  const folder = join(root, "not", "there", "yet");
  const first = openDatabase(folder);
  await createSqliteKeyStore(first).create(keyRecord({ id: "a" }));
  first.close();
  expect(await createSqliteKeyStore(openIn(folder)).findById("a")).toMatchObject({ id: "a" });
});

test("several processes can use a database at the same time, and see each other's changes immediately", async () => {
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
])("a database that was %s during use refuses writes", async (_, act) => {
  const folder = join(root, String(folders++));
  const keys = createSqliteKeyStore(openIn(folder));
  await keys.create(keyRecord({ id: "a" }));
  act(folder);
  await expect(keys.create(keyRecord({ id: "b", hash: "b" }))).rejects.toThrow(StoreUnavailable);
  await expect(keys.create(keyRecord({ id: "b", hash: "b" }))).rejects.toThrow("start the server again");
  expect(await keys.findById("a")).toMatchObject({ id: "a" });
});

test("a database writes each change to disk before confirming it", () => {
  const database = openNew();
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
});

test("a database from a newer Kibitz version is refused and not changed", () => {
  const folder = join(root, "newer");
  openIn(folder).exec("PRAGMA user_version = 99");
  expect(() => openDatabase(folder)).toThrow(/newer Kibitz \(version 99/);
});

test("an older version of Kibitz does not downgrade an open database that a newer version has migrated", async () => {
  const folder = join(root, "overtaken");
  const database = openDatabase(folder);
  const newer = openIn(folder);
  newer.exec("PRAGMA user_version = 99");
  await database.probe();
  expect(newer.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 });
  database.close();
});

test("an empty database is migrated only once", () => {
  const folder = join(root, "again");
  const version = () => openIn(folder).prepare("PRAGMA user_version").get();
  expect(version()).toEqual(version());
});

test("a database from the first Kibitz version is migrated with its content", async () => {
  const folder = join(root, "first");
  mkdirSync(folder);
  const first = new DatabaseSync(join(folder, "kibitz.db"));
  first.exec(firstSchema);
  first.exec(`
      INSERT INTO api_key VALUES ('hand', 'h1', 'mine', 'gold', 1000, NULL, 2000, NULL);
      INSERT INTO api_key VALUES ('one', 'h2', NULL, 'free', 1000, '192.0.2.1', NULL, NULL);
      INSERT INTO api_key VALUES ('two', 'h3', NULL, 'free', 1001, '192.0.2.1', 5000, 6000);
      INSERT INTO engine_time VALUES ('free/engine-day', 'one', 700, 9000);
      PRAGMA user_version = 1;`);
  first.close();
  const database = openIn(folder);
  const keys = createSqliteKeyStore(database);
  expect(await keys.list()).toEqual([
    keyRecord({ id: "hand", hash: "h1", name: "mine", plan: "gold", createdAt: 1000, lastUsedAt: 2000 }),
    keyRecord({ id: "one", hash: "h2", createdAt: 1000, issuedTo: "192.0.2.1" }),
    keyRecord({
      id: "two",
      hash: "h3",
      createdAt: 1001,
      issuedTo: "192.0.2.1",
      lastUsedAt: 5000,
      revokedAt: 6000,
    }),
  ]);
  expect(await createSqliteUsageStore(database).current(1)).toMatchObject([
    { subject: "one", engineMs: 700 },
  ]);
  const third = keyRecord({ id: "three", createdAt: 1002, issuedTo: "192.0.2.2" });
  expect(await keys.create(third, issueTerms({ keptMax: 2 }))).toEqual({ kind: "full" });
  expect(await keys.create(third, issueTerms({ keptMax: 3 }))).toEqual({ kind: "created" });
});

test.each([
  "SELECT rowid FROM api_key WHERE revoked_at < 1",
  "SELECT rowid FROM api_key WHERE expires_at < 1",
  "SELECT rowid FROM api_key WHERE issued_to IS NOT NULL AND max(created_at, coalesce(last_used_at, 0)) < 1",
  "SELECT * FROM api_key WHERE issued_to = 'a' AND idempotency_key = 'b' AND revoked_at IS NULL",
  "SELECT created_at FROM api_key WHERE issued_within = 'a' AND created_at > 1 ORDER BY created_at DESC",
  "SELECT created_at FROM api_key WHERE issued_to = 'a' AND created_at > 1 ORDER BY created_at DESC",
  "SELECT rate, subject FROM engine_time WHERE resets_at <= 1 LIMIT 1",
])("the database uses an index for the query: %s", (query) => {
  const plan = openNew().prepare(`EXPLAIN QUERY PLAN ${query}`).all();
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH \w+ USING .*INDEX/)]);
});

test.each([
  ["is a file", "file"],
  ["is below a file", "file/below"],
])("opening a database fails with an error if its path %s", (_, name) => {
  writeFileSync(join(root, "file"), "");
  expect(() => openDatabase(join(root, name))).toThrow(StoreUnusable);
  expect(() => openDatabase(join(root, name))).toThrow(join(root, name));
});

test("opening a file that is not a database fails with an error", () => {
  const folder = join(root, "garbage");
  openDatabase(folder).close();
  writeFileSync(join(folder, "kibitz.db"), "no database at all, but long enough to have a header");
  expect(() => openDatabase(folder)).toThrow(StoreUnusable);
});

test("a change is on the disk when its promise resolves, except for a change that need not survive a power failure", async () => {
  const database = openNew();
  const syncOf = () => Number(database.prepare("PRAGMA synchronous").get()?.synchronous);
  const [normal, full] = [1, 2];
  expect(await database.write(syncOf)).toBe(full);
  expect(await database.writeUnsynced(syncOf)).toBe(normal);
  expect(await database.write(syncOf)).toBe(full);
  await expect(database.writeUnsynced(() => expect.fail("it fails"))).rejects.toThrow("it fails");
  expect(await database.write(syncOf)).toBe(full);
});

test("a new key waits for the disk, and a renewed key does not", async () => {
  const database = openNew();
  const synced = vi.spyOn(database, "write");
  const keys = createSqliteKeyStore(database);
  const terms = issueTerms({ idempotencyKey: "wish" });
  await keys.create(keyRecord({ id: "a", hash: "first", issuedTo: "x" }), terms);
  expect(synced).toHaveBeenCalledOnce();
  const renewed = await keys.create(keyRecord({ id: "b", hash: "second", issuedTo: "x" }), terms);
  expect(renewed).toMatchObject({ kind: "renewed" });
  expect(synced).toHaveBeenCalledOnce();
});
