/**
 * Sums up the file that `TEST_RESULTS` names: how many tests passed, failed and were skipped in each lane, and which of the timed tests
 * ran a second time. Ends with 1 if a test failed, if nothing ran, or if more than two timed tests needed their second run.
 *
 *     node tools/test-summary.ts results.jsonl
 */
import { readFileSync } from "node:fs";
import type { TestResult } from "../test/support/lane.ts";

const secondRunsMax = 2;
const [file = ""] = process.argv.slice(2);
const results = readFileSync(file, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as TestResult);

const count = (state: TestResult["state"]) => results.filter((result) => result.state === state).length;
const ranTwice = results.filter(({ failedFirst }) => failedFirst !== undefined);
for (const { file, name, failedFirst } of ranTwice) {
  console.log(`ran twice: ${file} > ${name}: ${failedFirst}`);
}
for (const { file, name } of results.filter(({ state }) => state === "failed")) {
  console.log(`failed: ${file} > ${name}`);
}
console.log(
  `${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped, ${ranTwice.length} ran twice`,
);
process.exitCode = count("passed") === 0 || count("failed") > 0 || ranTwice.length > secondRunsMax ? 1 : 0;
