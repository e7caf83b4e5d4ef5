import { appendFileSync } from "node:fs";
import type { Reporter, TestCase } from "vitest/node";

/** Lanes that are told apart by the ends of file names, in any folder. No other lane runs these files. */
export const otherLanes = ["**/*.timed.test.ts", "**/*.nightly.test.ts"];

/** One line of the file that `TEST_RESULTS` names. */
export interface TestResult {
  readonly file: string;
  /** With the names of the groups around it, separated by " > ". */
  readonly name: string;
  /** `not checked`: what the check needs could not be had, and the check allows that. */
  readonly state: "passed" | "failed" | "skipped" | "pending" | "not checked";
  readonly ms: number;
  /** The first failure, if it passed when it ran a second time. */
  readonly failedFirst?: string;
}

/**
 * The options that all lanes share.
 *
 * A test that hangs ends by `testTimeout`; no test waits for it to pass. Nothing is retried, except in the lane of promises about time.
 */
export function lane() {
  return {
    retry: 0,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["default", createResultReporter()] as (string | Reporter)[],
  };
}

/** Appends the result of each test to the file that `TEST_RESULTS` names, and names each test that passed only in its second run. */
function createResultReporter(): Reporter {
  const ranTwice: string[] = [];
  return {
    onTestCaseResult(test: TestCase): void {
      const result = resultOf(test);
      recordResult(result);
      if (result.failedFirst !== undefined) {
        ranTwice.push(`${result.file} > ${result.name}: ${result.failedFirst}`);
      }
    },
    onTestRunEnd(): void {
      if (ranTwice.length > 0) {
        console.log(`\n Passed only in the second run:\n   ${ranTwice.join("\n   ")}\n`);
      }
    },
  };
}

/** Adds a line to the file that `TEST_RESULTS` names. For suites that vitest does not run. */
export function recordResult(result: TestResult): void {
  if (process.env.TEST_RESULTS !== undefined) {
    appendFileSync(process.env.TEST_RESULTS, `${JSON.stringify(result)}\n`);
  }
}

function resultOf(test: TestCase): TestResult {
  const { state, errors } = test.result();
  const diagnostic = test.diagnostic();
  return {
    file: test.module.relativeModuleId,
    name: test.fullName,
    state,
    ms: Math.round(diagnostic?.duration ?? 0),
    ...(diagnostic?.flaky && { failedFirst: errors?.[0]?.message.split("\n", 1)[0] ?? "" }),
  };
}
