import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createClock } from "./clock.ts";
import { type DiskFault, mountDisk, simulatedFs, simulatedSqlite } from "./disk.ts";

const path = "/simulated/node-1/kibitz.db";
const always = { node: 1, atMs: 0, forMs: 1000, file: "kibitz.db" } as const;

function mount(...faults: readonly DiskFault[]) {
  const clock = createClock();
  return { clock, disk: mountDisk({ faults, clock, watch: { trace() {}, count() {} } }) };
}

function errorOf(work: () => void) {
  try {
    work();
  } catch (error) {
    const { message, ...properties } = error as Error;
    return { message, ...properties };
  }
  return expect.fail("no error");
}

/** Returns what a real database throws. */
function realErrorOf(work: (database: DatabaseSync, file: string) => void) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "kibitz-"));
  const file = join(folder.path, "real.db");
  const database = new DatabaseSync(file, { timeout: 0 });
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE word (text TEXT)");
  try {
    return errorOf(() => work(database, file));
  } finally {
    if (database.isOpen) {
      database.close();
    }
  }
}

function connect(): InstanceType<typeof simulatedSqlite.DatabaseSync> {
  const database = new simulatedSqlite.DatabaseSync(path, { timeout: 0 });
  database.exec("PRAGMA journal_mode = WAL");
  return database;
}

test("a locked simulated database fails like a real one, but can be read", () => {
  using _ = mount({ ...always, kind: "database is locked" }).disk;
  const database = connect();
  const simulated = errorOf(() => database.exec("BEGIN IMMEDIATE"));
  expect(database.prepare("SELECT 1 AS one").get()).toEqual({ one: 1 });
  const real = realErrorOf((locked, file) => {
    using other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    locked.exec("BEGIN IMMEDIATE");
  });
  expect(simulated).toEqual(real);
});

test("a full simulated disk fails like a real one, and ends the transaction", async () => {
  const { clock, disk } = mount({ ...always, atMs: 1, kind: "disk is full" });
  using _ = disk;
  const database = connect();
  database.exec("CREATE TABLE word (text TEXT)");
  const insert = database.prepare("INSERT INTO word VALUES (?)");
  await clock.run(passed(clock, 1));
  database.exec("BEGIN IMMEDIATE");
  const simulated = errorOf(() => insert.run("long"));
  expect(database.isTransaction).toBe(false);
  const real = realErrorOf((full) => {
    full.exec("PRAGMA max_page_count = 2; BEGIN IMMEDIATE");
    try {
      full.prepare("INSERT INTO word VALUES (?)").run("long".repeat(5000));
    } finally {
      expect(full.isTransaction).toBe(false);
    }
  });
  expect(simulated).toEqual(real);
});

test("a closed connection to a simulated database fails like a real one, and its data remains", () => {
  using _ = mount().disk;
  const first = connect();
  first.exec("CREATE TABLE word (text TEXT)");
  first.exec("INSERT INTO word VALUES ('kept')");
  first.close();
  expect(errorOf(() => first.exec("SELECT 1"))).toEqual(
    realErrorOf((closed) => {
      closed.close();
      closed.exec("SELECT 1");
    }),
  );
  expect(connect().prepare("SELECT text FROM word").all()).toEqual([{ text: "kept" }]);
});

test("a replaced simulated file is another file, and a deleted file is gone", async () => {
  const { clock, disk } = mount(
    { ...always, atMs: 1, kind: "file is replaced" },
    { ...always, atMs: 2, kind: "file is deleted" },
  );
  using _ = disk;
  connect();
  const inode = simulatedFs.statSync(path)?.ino;
  await clock.run(passed(clock, 1));
  expect(simulatedFs.statSync(path)?.ino).toBeGreaterThan(inode ?? Number.NaN);
  await clock.run(passed(clock, 2));
  expect(simulatedFs.statSync(path)).toBeUndefined();
});

test("stat of a simulated file fails like a real one", () => {
  using _ = mount({ ...always, kind: "stat fails", code: "EACCES" }).disk;
  expect(errorOf(() => simulatedFs.statSync(path))).toMatchObject({ code: "EACCES", syscall: "stat", path });
});

/** Runs the clock until the time has passed. */
function passed(clock: ReturnType<typeof createClock>, ms: number): () => boolean {
  let hasPassed = false;
  clock.at(ms, () => {
    hasPassed = true;
  });
  return () => hasPassed;
}
