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

/** Grouped writes of notes, and how often and how long they were committed. */
function notesOf(database: DatabaseSync) {
  const ask = createAsk(database);
  const insert = database.prepare("INSERT INTO note VALUES (?)");
  let commits = 0;
  let heldMs = 0;
  const together = createGroupedWrites({
    ...ask,
    write: async (work) => {
      commits++;
      const startedAt = performance.now();
      try {
        return await ask.write(work);
      } finally {
        heldMs += performance.now() - startedAt;
      }
    },
  });
  return {
    note: (text: string | null) => together(() => insert.run(text).changes),
    commits: () => commits,
    /** For how long writes have had the thread, in milliseconds. */
    heldMs: () => heldMs,
    kept: () =>
      database
        .prepare("SELECT text FROM note ORDER BY rowid")
        .all()
        .map(({ text }) => text),
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

test("one write is committed at once, and those that come meanwhile together, in their order", async () => {
  const { note, commits, kept } = notesOf(openNew());
  const written = numbered(101).map(note);
  expect(kept()).toEqual(["0"]);
  await Promise.all(written);
  expect(kept()).toEqual(numbered(101));
  expect(commits()).toBe(3);
});

test("most of the time the thread is for others, however many write", async () => {
  const { note, commits, heldMs } = notesOf(openNew());
  let turnsWithCommits = 0;
  let seen = 0;
  const turn = setInterval(() => {
    turnsWithCommits += commits() > seen ? 1 : 0;
    seen = commits();
  }, 1);
  const startedAt = performance.now();
  await Promise.all(numbered(2000).map(note));
  const tookMs = performance.now() - startedAt;
  clearInterval(turn);
  // Others have their turn between two of them,
  expect(turnsWithCommits).toBeGreaterThan(commits() / 2);
  // and all but a fifth of the time. What a busy machine takes away, it takes from both; only a pause has a longest.
  expect(heldMs() / tookMs).toBeLessThan(0.5);
});

test("one that breaks a constraint fails alone", async () => {
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

test("where the database cannot be written all that wait are told, and later ones are written again", async () => {
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
