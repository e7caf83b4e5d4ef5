import { posix } from "node:path";
import { expect, test } from "vitest";
import { buildPageIfStale, sources } from "../../src/cli/build-page.ts";
import { importsOf, readSources } from "../support/imports.ts";

/** Returns all files of `web/` and all files that they import, directly or indirectly. */
function bundled(): readonly string[] {
  const files = new Map(readSources(["web", "src", "gen"]).map((file) => [file.path, file]));
  const found = new Set([...files.keys()].filter((path) => path.startsWith("web/")));
  // Each import is added to the set, and the loop visits it, too.
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

test("the page is rebuilt after a change in any of its files", () => {
  const files = bundled();
  expect(files).toContain("src/chess/position.ts");
  expect(files.filter((path) => !sources.some((source) => posix.matchesGlob(path, source)))).toEqual([]);
});

test("a failed build of the page is logged, and the server continues", async () => {
  const warned: string[] = [];
  const log = { info() {}, warn: (_: object, message: string) => void warned.push(message) };
  await buildPageIfStale(log, new AbortController().signal, () => Promise.reject(new Error("EIO")));
  expect(warned).toEqual([expect.stringContaining("the page could not be built")]);
});
