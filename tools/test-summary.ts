/**
 * Prints the results of all test commands. Usage: `node tools/test-summary.ts results.jsonl`.
 * Exits with 1 if a test failed, was skipped or did not end, or if more than two timed tests needed a second attempt.
 */
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { commandOf, laneNames, laneOf, lanes } from "../test/support/lanes.ts";
import type { TestResult } from "../test/support/test-result.ts";

const secondRunsMax = 2;

const signatures = "signatures of packages";

/** Every test command of `.ci/run`. */
const commands = new Set([
  signatures,
  ...laneNames.filter((name) => lanes[name].onlyAtNight !== true).map(commandOf),
]);

/** Returns the command that tests a file, or the file if none of the commands tests it. */
function commandFor(file: string): string {
  const name = laneOf(file);
  return file === "tools/check-signatures.sh" ? signatures : name === undefined ? file : commandOf(name);
}

const [path = ""] = process.argv.slice(2);
const results = readFileSync(path, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as TestResult);
const byCommand = Map.groupBy(results, ({ file }) => commandFor(file));

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
for (const [command, all] of byCommand) {
  const seconds = all.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  console.log(`${command}: ${counts(all)}, ${seconds.toFixed(0)} s in all tests`);
}
const silent = [...commands].filter(
  (command) => !byCommand.get(command)?.some(({ state }) => /^(passed|not checked)$/.test(state)),
);
for (const command of silent) {
  console.log(`no result: ${command}`);
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
