import { posix } from "node:path";
import { expect, test } from "vitest";
import { sources } from "../../src/cli/build-page.ts";
import { importsOf, readSources } from "../support/imports.ts";

/** All that the page is bundled from, also through what it imports. */
function bundled(): readonly string[] {
  const files = new Map(readSources(["web", "src", "gen"]).map((file) => [file.path, file]));
  const found = new Set([...files.keys()].filter((path) => path.startsWith("web/")));
  // What is added on the way is gone through as well.
  for (const path of found) {
    const file = files.get(path);
    for (const { target } of file ? importsOf(file) : []) {
      if (files.has(target)) {
        found.add(target);
      }
    }
  }
  return [...found];
}

test("the page is built again when anything that it is made of has changed", () => {
  const files = bundled();
  expect(files).toContain("src/chess/position.ts");
  expect(files.filter((path) => !sources.some((source) => posix.matchesGlob(path, source)))).toEqual([]);
});
