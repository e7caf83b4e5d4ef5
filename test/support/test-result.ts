import { appendFileSync } from "node:fs";
import type { Reporter, TestCase } from "vitest/node";

/** One line of the results file that `TEST_RESULTS` names. */
export interface TestResult {
  readonly file: string;
  /** The names of the groups that contain the test, and the name of the test, separated by " > ". */
  readonly name: string;
  /** `not checked` means that a component was missing, and the test was skipped. */
  readonly state: "passed" | "failed" | "skipped" | "pending" | "not checked";
  readonly ms: number;
  /** Set if the test failed first and then passed in a retry: the message of the failure. */
  readonly failedFirst?: string;
}

/**
 * Creates a reporter that appends each test result to the file that `TEST_RESULTS` names, and prints the tests that needed a
 * retry.
 */
export function createResultReporter(): Reporter {
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

/** Appends a result to the file that `TEST_RESULTS` names. Suites without vitest call this function directly. */
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
