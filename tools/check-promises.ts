/**
 * Checks `docs/promises.md`: each promise has a test that exists and, with the results of test runs, that passed.
 *
 *     node tools/check-promises.ts                 every test exists
 *     node tools/check-promises.ts results.jsonl   and passed in this run; those of nightly tests, if they are in the results
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestResult } from "../test/support/lane.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @returns a line for each promise without a test, and for each test that is missing or has not passed */
export function brokenPromises(page: string, results?: readonly TestResult[]): readonly string[] {
  const sources = globSync("test/**/*.{ts,json}", { cwd: root }).map((path) =>
    readFileSync(root + path, "utf8"),
  );
  const exists = (text: string) => sources.some((source) => source.includes(text));
  return [...page.matchAll(/^\| (?!promise \|)(.+?) \| (.+) \|$/gm)].flatMap(
    ([, promise = "", cell = ""]) => {
      const tests = [...cell.matchAll(/`([^`]+\.ts)`(?: \((nightly)\))?: (.+?)(?=<br>|$)/g)];
      return tests.length !== cell.split("<br>").length
        ? [`no test, or one that is not written as \`file\`: name: ${promise}`]
        : tests.flatMap(([, file = "", nightly, name = ""]) => {
            const missing = !existsSync(root + file) || !name.split(" > ").every(exists);
            const isNightly = file.includes(".nightly.");
            if (missing || isNightly !== (nightly !== undefined)) {
              return [`${missing ? "no such test" : "marked wrongly as nightly or not"}: ${file}: ${name}`];
            }
            const pattern = new RegExp(
              `(^| )${name
                .split(/%\w|\$\{[^}]+\}|\$[\w.]+/)
                .map(RegExp.escape)
                .join(".*")}($| > )`,
            );
            const ran = results?.filter((result) => result.file === file && pattern.test(result.name));
            const passed =
              ran?.some(({ state }) => state === "passed") && !ran.some(({ state }) => state === "failed");
            return ran === undefined || passed || (isNightly && ran.length === 0)
              ? []
              : [`not passed: ${file}: ${name}`];
          });
    },
  );
}

if (import.meta.main) {
  const files = process.argv.slice(2);
  const results = files.flatMap((file) => readFileSync(file, "utf8").split("\n").filter(Boolean));
  const page = readFileSync(`${root}docs/promises.md`, "utf8");
  const broken = brokenPromises(page, files.length > 0 ? results.map((line) => JSON.parse(line)) : undefined);
  console.log(broken.join("\n") || "every promise has its test");
  process.exitCode = broken.length > 0 ? 1 : 0;
}
