/**
 * Checks that each promise in `docs/promises.md` names an existing test.
 *     node tools/check-promises.ts                           checks only that the tests exist
 *     node tools/check-promises.ts results.jsonl             also checks that all tests except nightly tests have passed
 *     node tools/check-promises.ts --nightly results.jsonl   also checks that the nightly tests have passed
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestResult } from "../test/support/test-result.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns a message for each promise without a test, and for each test that does not exist or has not passed. */
export function brokenPromises(page: string, results?: readonly TestResult[], nightly = false): string[] {
  return [...page.matchAll(/^\| (?!promise \|)(.+?) \| (.+) \|$/gm)].flatMap(([, promise, cell = ""]) => {
    const tests = [...cell.matchAll(/`([^`]+\.ts)`(?: \((nightly)\))?: (.+?)(?=<br>|$)/g)];
    return tests.length !== cell.split("<br>").length
      ? [`no test, or one that is not written as \`file\`: name: ${promise}`]
      : tests.flatMap(([, file = "", mark, name = ""]) => {
          const isNightly = file.includes(".nightly.");
          const sources = sourcesOf(file);
          if (
            // Only these files have results of their own.
            !/(\.test|\/run-[\w-]+)\.ts$/.test(file) ||
            !name.split(" > ").every((part) => ['"', "`"].some((quote) => sources.includes(part + quote))) ||
            isNightly !== (mark !== undefined)
          ) {
            return [`no such test, or marked wrongly as nightly or not: ${file}: ${name}`];
          }
          const parts = name.split(/%[.\d]*\w|\$\{[^}]+\}|\$[\w.]+/).map(RegExp.escape);
          const pattern = new RegExp(`(^| )${parts.join(".*")}($| > )`);
          const ran = results?.filter((result) => result.file === file && pattern.test(result.name)) ?? [];
          const states = new Set(ran.map(({ state }) => state));
          const passed = states.has("passed") && !states.has("failed");
          return results === undefined || passed || isNightly !== nightly
            ? []
            : [`not passed: ${file}: ${name}`];
        });
  });
}

/** Includes the files in `test/` that a test file imports, because they can contain the name of the test. */
function sourcesOf(file: string, found = new Set<string>()): string {
  if (!file.startsWith("test/") || found.has(file) || !existsSync(root + file)) {
    return "";
  }
  found.add(file);
  const source = readFileSync(root + file, "utf8");
  const imports = [...source.matchAll(/(?:from|URL\() ?"(\.[^"]+)"/g)];
  return [source, ...imports.map(([, path = ""]) => sourcesOf(join(dirname(file), path), found))].join("\n");
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  const files = args.filter((arg) => arg !== "--nightly");
  const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n").filter(Boolean));
  const results = files.length > 0 ? lines.map((line) => JSON.parse(line)) : undefined;
  const page = readFileSync(`${root}docs/promises.md`, "utf8");
  const broken = brokenPromises(page, results, args.includes("--nightly"));
  console.log(broken.join("\n") || "every promise has its test");
  process.exitCode = broken.length > 0 ? 1 : 0;
}
