import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startHashThread } from "../../src/tablebase/hasher.ts";
import { openTablebase } from "../../src/tablebase/tablebase.ts";
import { positionOf } from "../chess/validated.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const intact = fileURLToPath(new URL("tables", import.meta.url));
const temporary = useTemporaryFolder();
const rookWins = positionOf("8/8/8/3k4/8/8/8/K6R w - - 0 1");
const queenWins = positionOf("8/8/8/8/8/2k5/8/K6Q w - - 0 1");
const win = { kind: "known", value: { category: "win" } };
const unusable = { kind: "miss", reason: "unusable_table" };

function copyOfTables(): string {
  const folder = mkdtempSync(join(temporary, "tables-"));
  cpSync(intact, folder, { recursive: true });
  return folder;
}

async function open(folders: readonly string[]) {
  const problems: string[] = [];
  const tablebase = await openTablebase(folders, {
    onProblem: (path, problem) => problems.push(`${path} ${problem}`),
  });
  onTestFinished(() => tablebase[Symbol.asyncDispose]());
  return { tablebase, problems };
}

function change(path: string, edit: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path);
  edit(bytes);
  writeFileSync(path, bytes);
}

const damages: readonly (readonly [string, (wdl: string, dtz: string) => void])[] = [
  ["that is empty", (wdl) => truncateSync(wdl, 0)],
  ["with less than a checksum", (wdl) => truncateSync(wdl, 7)],
  ["that is cut by a block", (wdl) => truncateSync(wdl, statSync(wdl).size - 64)],
  ["that is cut by a byte", (wdl) => truncateSync(wdl, statSync(wdl).size - 1)],
  ["that is too long", (wdl) => writeFileSync(wdl, Buffer.alloc(64), { flag: "a" })],
  ["of zeros", (wdl) => change(wdl, (bytes) => bytes.fill(0))],
  ["with zeros at its end", (wdl) => change(wdl, (bytes) => bytes.fill(0, bytes.length / 2))],
  ["with one wrong bit", (wdl) => change(wdl, (bytes) => bytes.writeUInt8(bytes.readUInt8(120) ^ 1, 120))],
  ["with a wrong checksum", (wdl) => change(wdl, (bytes) => bytes.writeUInt8(1, bytes.length - 1))],
  ["that is another table", (wdl) => copyFileSync(join(intact, "KQvK.rtbw"), wdl)],
  ["that is a table of distances", (wdl, dtz) => copyFileSync(dtz, wdl)],
  ["without its table of distances", (_, dtz) => rmSync(dtz)],
  ["with a table of distances of other pieces", (_, dtz) => copyFileSync(join(intact, "KBvK.rtbz"), dtz)],
  [
    "that is a folder",
    (wdl) => {
      rmSync(wdl);
      mkdirSync(wdl);
    },
  ],
  [
    "that is a named pipe",
    (wdl) => {
      rmSync(wdl);
      execFileSync("mkfifo", [wdl]);
    },
  ],
];

describe.each(damages)("a table %s", (_, damage) => {
  test("is a miss, and the other tables answer", async () => {
    const folder = copyOfTables();
    damage(join(folder, "KRvK.rtbw"), join(folder, "KRvK.rtbz"));
    const { tablebase, problems } = await open([folder]);
    expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "miss" });
    expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "miss" });
    expect(await tablebase.probe(queenWins)).toMatchObject(win);
    expect(tablebase.summary()).toMatchObject({ tables: 4 });
    // A file that is simply not there is no problem.
    expect(problems.length).toBeLessThanOrEqual(1);
    expect(problems.every((problem) => problem.startsWith(join(folder, "KRvK.rtb")))).toBe(true);
  });
});

test("a damaged file is reported once, and is used again after it has been replaced", async () => {
  const folder = copyOfTables();
  const file = join(folder, "KRvK.rtbw");
  const { tablebase, problems } = await open([folder]);
  const { digest } = tablebase.summary() ?? {};
  truncateSync(file, 64);
  expect(await tablebase.probe(rookWins)).toMatchObject(unusable);
  expect(await tablebase.probe(rookWins)).toMatchObject(unusable);
  expect(problems).toHaveLength(1);
  expect(tablebase.summary()?.digest).not.toBe(digest);

  copyFileSync(join(intact, "KRvK.rtbw"), `${file}.new`);
  renameSync(`${file}.new`, file);
  expect(await tablebase.probe(rookWins)).toMatchObject(win);
  expect(tablebase.summary()?.digest).toBe(digest);
});

test("a file that is overwritten while it is open is a miss at the next read, and never another answer", async () => {
  const folder = copyOfTables();
  // Of a cache that keeps nothing, every value is read from the file.
  const tablebase = await openTablebase([folder], { cacheBytes: 1 });
  onTestFinished(() => tablebase[Symbol.asyncDispose]());
  expect(await tablebase.probe(rookWins)).toMatchObject(win);
  const file = join(folder, "KRvK.rtbw");
  change(file, (bytes) => bytes.fill(0, 100, 190));
  expect(await tablebase.probe(rookWins)).toMatchObject(unusable);
  expect(await tablebase.probe(rookWins)).toMatchObject(unusable);
  writeFileSync(file, readFileSync(join(intact, "KRvK.rtbw")));
  expect(await tablebase.probe(rookWins)).toMatchObject(win);
});

test("a table that is written for a long time is not verified at every look-up", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = copyOfTables();
  const file = join(folder, "KRvK.rtbw");
  let hashes = 0;
  const tablebase = await openTablebase([folder], {
    startThread() {
      const thread = startHashThread();
      const post = thread.postMessage.bind(thread);
      thread.postMessage = (...args: Parameters<typeof post>) => {
        hashes++;
        post(...args);
      };
      return thread;
    },
  });
  onTestFinished(() => tablebase[Symbol.asyncDispose]());
  for (let count = 0; count < 20; count++) {
    change(file, (bytes) => bytes.fill(count, 100, 190));
    expect(await tablebase.probe(rookWins)).toMatchObject(unusable);
  }
  expect(hashes).toBe(2);
  writeFileSync(file, readFileSync(join(intact, "KRvK.rtbw")));
  vi.advanceTimersByTime(2000);
  expect(await tablebase.probe(rookWins)).toMatchObject(win);
});

test("a folder that vanishes leaves misses, and the tables are used again when the folder is back", async () => {
  const folder = copyOfTables();
  const { tablebase } = await open([folder]);
  expect(await tablebase.probe(queenWins)).toMatchObject(win);
  renameSync(folder, `${folder}-away`);
  expect(await tablebase.probe(rookWins)).toMatchObject({ kind: "miss" });
  renameSync(`${folder}-away`, folder);
  expect(await tablebase.probe(rookWins)).toMatchObject(win);
});

test("no table is verified after the tables were closed", async () => {
  const { tablebase, problems } = await open([intact]);
  const answers = [queenWins, rookWins].map((position) => tablebase.probe(position));
  await new Promise((resolve) => void setImmediate(resolve));
  await tablebase[Symbol.asyncDispose]();
  for (const answer of answers) {
    expect(await answer).toMatchObject({ ...unusable, message: expect.stringMatching(/closed|stopped/) });
  }
  expect(problems).toEqual([]);
});

test("a missing folder is reported, and the other folders are used", async () => {
  const { tablebase, problems } = await open([join(temporary, "missing"), intact]);
  expect(problems).toEqual([expect.stringContaining("missing cannot be read")]);
  expect(await tablebase.probe(rookWins)).toMatchObject(win);
});

test("results and distances may be in two folders, and of equal files the first folder counts", async () => {
  const [first, second] = [copyOfTables(), copyOfTables()];
  rmSync(join(first, "KRvK.rtbz"));
  rmSync(join(second, "KQvK.rtbw"));
  truncateSync(join(second, "KRvK.rtbw"), 0);
  const { tablebase, problems } = await open([first, second]);
  expect(await tablebase.probe(rookWins)).toMatchObject(win);
  expect(await tablebase.probe(queenWins)).toMatchObject(win);
  expect(problems).toEqual([]);
});
