import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { StoreUnavailable } from "../../src/storage/ports.ts";
import { createAsk, openDatabase } from "../../src/storage/sqlite/database.ts";
import { createGroupedWrites } from "../../src/storage/sqlite/key-store.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const root = useTemporaryFolder();
const open = new Set<DatabaseSync>();
let folders = 0;

function openNew(): DatabaseSync {
  const database = openDatabase(join(root, String(folders++)));
  open.add(database);
  database.exec("CREATE TABLE note (text TEXT NOT NULL UNIQUE)");
  return database;
}

afterEach(() => {
  for (const database of open) {
    database.close();
  }
  open.clear();
});

/** Grouped writes of notes, and when they were committed. */
function notesOf(database: DatabaseSync) {
  const ask = createAsk(database);
  const insert = database.prepare("INSERT INTO note VALUES (?)");
  const commits: { readonly beganAt: number; readonly endedAt: number }[] = [];
  const together = createGroupedWrites({
    ...ask,
    write: async (work) => {
      const beganAt = performance.now();
      try {
        return await ask.write(work);
      } finally {
        commits.push({ beganAt, endedAt: performance.now() });
      }
    },
  });
  return {
    note: (text: string | null) => together(() => insert.run(text).changes),
    /** By `performance.now()`. */
    commits,
    kept: () =>
      database
        .prepare("SELECT text FROM note ORDER BY rowid")
        .all()
        .map(({ text }) => text),
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

test("one write is committed at once, and the writes that come meanwhile together, in their order", async () => {
  const { note, commits, kept } = notesOf(openNew());
  const written = numbered(101).map(note);
  expect(kept()).toEqual(["0"]);
  await Promise.all(written);
  expect(kept()).toEqual(numbered(101));
  expect(commits).toHaveLength(3);
});

test("after each commit of grouped writes the thread is free for four times as long", async () => {
  const { note, commits } = notesOf(openNew());
  await Promise.all(numbered(1000).map(note));
  expect(commits.length).toBeGreaterThan(20);
  for (const [index, { beganAt, endedAt }] of commits.slice(0, -1).entries()) {
    const pauseMs = (commits[index + 1]?.beganAt ?? 0) - endedAt;
    // A timer may be a millisecond early; a pause has a longest.
    expect(pauseMs).toBeGreaterThan(Math.min(4 * (endedAt - beganAt), 200) - 1.5);
  }
});

test("a grouped write that breaks a constraint fails alone", async () => {
  const { note, kept } = notesOf(openNew());
  const written = await Promise.allSettled(["a", "b", "b", null, "c"].map(note));
  expect(written.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "rejected",
    "fulfilled",
  ]);
  expect(kept()).toEqual(["a", "b", "c"]);
});

test("if the database cannot be written, all waiting writes fail, and later ones are written again", async () => {
  const database = openNew();
  const { note, kept } = notesOf(database);
  database.exec("PRAGMA query_only = 1");
  const written = await Promise.allSettled(numbered(120).map(note));
  expect(written.every(({ status }) => status === "rejected")).toBe(true);
  await expect(note("a")).rejects.toThrow(StoreUnavailable);
  database.exec("PRAGMA query_only = 0");
  await note("b");
  expect(kept()).toEqual(["b"]);
});
