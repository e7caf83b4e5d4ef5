import { posix } from "node:path";
import { expect, test } from "vitest";
import { buildPageIfStale, sources } from "../../src/cli/build-page.ts";
import { importsOf, readSources } from "../support/imports.ts";

/** The files that the page is bundled from: its sources, their imports, and all imports of those. */
function bundled(): readonly string[] {
  const files = new Map(readSources(["web", "src", "gen"]).map((file) => [file.path, file]));
  const found = new Set([...files.keys()].filter((path) => path.startsWith("web/")));
  // The loop also reaches files that it adds.
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

test("a checkout that cannot be read is logged, and does not end the server", async () => {
  const warned: string[] = [];
  const log = { info() {}, warn: (_: object, message: string) => void warned.push(message) };
  await buildPageIfStale(log, new AbortController().signal, () => Promise.reject(new Error("EIO")));
  expect(warned).toEqual([expect.stringContaining("the page could not be built")]);
});
