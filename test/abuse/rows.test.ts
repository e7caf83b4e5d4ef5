import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL(".", import.meta.url));
const all = Array.from({ length: 35 }, (_, index) => String(index + 1).padStart(2, "0"));

/** The rows that the tests of a file are named after: `test("07: …")`. */
function rowsOf(text: string): readonly string[] {
  return [...text.matchAll(/\(\s*["'`](\d\d): /g)].map(([, row = ""]) => row);
}

const files = globSync("*.test.ts", { cwd: folder }).filter((file) => file !== "rows.test.ts");
const rowsByFile = new Map(files.map((file) => [file, new Set(rowsOf(readFileSync(folder + file, "utf8")))]));

test("every row of the table of abuses has a test", () => {
  const tested = new Set([...rowsByFile.values()].flatMap((rows) => [...rows]));
  expect(all.filter((row) => !tested.has(row))).toEqual([]);
  expect([...tested].filter((row) => !all.includes(row))).toEqual([]);
});

test("the README names the file of every row, and no other", () => {
  const lines = readFileSync(`${folder}README.md`, "utf8").split("\n");
  const told = lines.flatMap((line) => {
    const [, row, file] = /^\| (\d\d) \|.*\| `([\w-]+\.test\.ts)` \|$/.exec(line) ?? [];
    return row === undefined ? [] : [`${row} ${file}`];
  });
  const written = [...rowsByFile].flatMap(([file, rows]) => [...rows].map((row) => `${row} ${file}`));
  expect(told.toSorted()).toEqual(written.toSorted());
});
