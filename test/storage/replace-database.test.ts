import * as fs from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** The file system: which call fails, and whether files can have a second name. */
const disk = vi.hoisted(() => ({ hasLinks: true, callsUntilFailure: Number.POSITIVE_INFINITY }));

vi.mock("node:fs", async (importOriginal) => {
  const real = await importOriginal<typeof fs>();
  const failing = <Args extends unknown[], R>(call: (...args: Args) => R) =>
    vi.fn((...args: Args): R => {
      if (--disk.callsUntilFailure === 0) {
        throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC", syscall: "any" });
      }
      return call(...args);
    });
  const linkSync = (from: string, to: string) => {
    if (!disk.hasLinks) {
      throw Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM", syscall: "link" });
    }
    real.linkSync(from, to);
  };
  return {
    ...real,
    linkSync: failing(linkSync),
    renameSync: failing(real.renameSync),
    copyFileSync: failing(real.copyFileSync),
    openSync: failing(real.openSync),
    fsyncSync: failing(real.fsyncSync),
    rmSync: failing(real.rmSync),
    statSync: failing(real.statSync),
  };
});

// Files share their modules, so another file may have read the module already.
vi.resetModules();
const { replaceDatabase } = await import("../../src/storage/sqlite/replace-database.ts");
afterAll(() => void vi.resetModules());

afterEach(() => Object.assign(disk, { hasLinks: true, callsUntilFailure: Number.POSITIVE_INFINITY }));

const root = useTemporaryFolder();
let folders = 0;

function writeDatabase(file: string, content: string): void {
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE content (text TEXT)");
  database.prepare("INSERT INTO content VALUES (?)").run(content);
  database.close();
}

/** Returns the files of the folder with their content. Of a database, the row that `writeDatabase` has written. */
function filesOf(folder: string): Readonly<Record<string, string>> {
  const names = fs.readdirSync(folder).toSorted();
  return Object.fromEntries(names.map((name) => [name, contentOf(join(folder, name))]));
}

function contentOf(file: string): string {
  const text = fs.readFileSync(file, "latin1");
  if (!text.startsWith("SQLite format 3")) {
    return text;
  }
  using database = new DatabaseSync(file, { readOnly: true });
  return String(database.prepare("SELECT text FROM content").get()?.text);
}

/** The files of the folder before and after a replacement that works. */
const cases = [
  {
    what: "a database",
    write: (file: string) => writeDatabase(file, "earlier"),
    after: { "kibitz.db": "copy", "kibitz.db.before-restore": "earlier" },
  },
  {
    what: "a damaged database with its log",
    write(file: string) {
      fs.writeFileSync(file, "damaged");
      fs.writeFileSync(`${file}-wal`, "log");
      fs.writeFileSync(`${file}-shm`, "index");
    },
    after: {
      "kibitz.db": "copy",
      "kibitz.db.before-restore": "damaged",
      "kibitz.db.before-restore-shm": "index",
      "kibitz.db.before-restore-wal": "log",
    },
  },
  {
    what: "the log of a database that is gone",
    write: (file: string) => fs.writeFileSync(`${file}-wal`, "log"),
    after: { "kibitz.db": "copy", "kibitz.db.before-restore-wal": "log" },
  },
];

describe.each([true, false])("if files can have a second name: %s", (hasLinks) => {
  test.each(cases)("replacing $what changes nothing if any of its steps fails", ({ write, after }) => {
    const steps: string[] = [];
    for (let failing = 1; ; failing++) {
      const folder = join(root, String(folders++));
      fs.mkdirSync(folder);
      const file = join(folder, "kibitz.db");
      const copy = join(folder, "copy");
      write(file);
      writeDatabase(copy, "copy");
      const before = filesOf(folder);
      Object.assign(disk, { hasLinks, callsUntilFailure: failing });
      let aside: string | undefined;
      let error: unknown;
      try {
        aside = replaceDatabase(file, copy);
      } catch (thrown) {
        error = thrown;
      }
      const isFailed = disk.callsUntilFailure <= 0;
      disk.callsUntilFailure = Number.POSITIVE_INFINITY;
      if (error === undefined) {
        expect(aside).toBe(`${file}.before-restore`);
        fs.rmSync(copy, { force: true });
        expect(filesOf(folder)).toEqual(after);
      } else {
        steps.push(String(error));
        fs.rmSync(`${copy}-earlier`, { force: true });
        expect(filesOf(folder)).toEqual(before);
      }
      if (!isFailed) {
        break;
      }
    }
    expect(steps.length).toBeGreaterThan(0);
  });
});
