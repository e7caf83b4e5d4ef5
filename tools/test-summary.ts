/**
 * Prints the results of all test commands. Usage: `node tools/test-summary.ts results.jsonl`.
 * Exits with 1 if a test failed, was skipped or did not end, or if more than two timed tests needed a second attempt.
 */
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import type { TestResult } from "../test/support/lane.ts";

const secondRunsMax = 2;

/** The test commands with the files of their tests. A file belongs to the first pattern that matches. */
const lanes: readonly (readonly [name: string, files: RegExp])[] = [
  ["npm run test:timed", /\.timed\.test\.ts$/],
  ["npm run test:slow", /^test\/slow\//],
  ["npm run test:abuse", /^test\/abuse\//],
  ["npm run test:clients", /^test\/clients\//],
  ["npm run test:page", /^test\/page\//],
  ["npm run test:cluster", /^test\/cluster\//],
  ["npm run test:openapi", /^test\/openapi\/run-/],
  ["npm run test:tools", /^test\/tools\//],
  ["npm run test:simulation", /^test\/simulation\/lane/],
  ["signatures of packages", /^tools\/check-signatures/],
  ["npm test", /^test\//],
];

const [path = ""] = process.argv.slice(2);
const results = readFileSync(path, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as TestResult);
const byLane = Map.groupBy(results, ({ file }) => lanes.find(([, files]) => files.test(file))?.[0] ?? file);

const inState = (state: TestResult["state"], all: readonly TestResult[] = results) =>
  all.filter((one) => one.state === state);
const ranTwice = results.filter(({ failedFirst }) => failedFirst !== undefined);
for (const { file, name, failedFirst } of ranTwice) {
  console.log(`ran twice: ${file} > ${name}: ${failedFirst}`);
}
for (const { file, name } of inState("failed")) {
  console.log(`failed: ${file} > ${name}`);
}
for (const { file, name } of inState("not checked")) {
  console.log(styleText("yellow", `not checked: ${file} > ${name}`));
}

const states = ["passed", "failed", "skipped", "not checked"] as const;
const counts = (all: readonly TestResult[]) =>
  states
    .filter((state) => state === "passed" || inState(state, all).length > 0)
    .map((state) => `${inState(state, all).length} ${state}`)
    .join(", ");
for (const [lane, all] of byLane) {
  const seconds = all.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  console.log(`${lane}: ${counts(all)}, ${seconds.toFixed(0)} s in all tests`);
}
const silent = lanes.filter(
  ([lane]) => !byLane.get(lane)?.some(({ state }) => /^(passed|not checked)$/.test(state)),
);
for (const [lane] of silent) {
  console.log(`no result: ${lane}`);
}
console.log(`${inState("not checked").length} not checked, ${ranTwice.length} ran twice`);
process.exitCode =
  silent.length > 0 ||
  ["failed", "skipped", "pending"].some((state) => inState(state as TestResult["state"]).length > 0) ||
  ranTwice.length > secondRunsMax
    ? 1
    : 0;
// The last line has the same form in every run, so that programs can read it. A test that did not end is a failed test.
const failed = inState("failed").length + inState("pending").length;
console.log(`${inState("passed").length} passed, ${failed} failed, ${inState("skipped").length} skipped`);
