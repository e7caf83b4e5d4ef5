import { appendFileSync } from "node:fs";
import type { Reporter, TestCase } from "vitest/node";

/**
 * CI runs on machines that others use as well, and among what tests promise is time: there, a test that fails is run twice more.
 * What is wrong fails three times; what passes only then is named behind the run, to be mended. Not where people run tests.
 */
export function triedAgainInCi(): { retry: number; reporters: (string | Reporter)[] } {
  return process.env.CI === undefined
    ? { retry: 0, reporters: ["default"] }
    : { retry: 2, reporters: ["default", createReporter()] };
}

/**
 * Names what passed only when it was run again, and what it had failed with. How many have passed and failed becomes a line of
 * the file that `TEST_TALLY` names, if it names one.
 */
function createReporter(): Reporter {
  const unsteady: string[] = [];
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  return {
    onTestCaseResult(test: TestCase): void {
      count[test.result().state]++;
      if (test.diagnostic()?.flaky) {
        const failures = test.result().errors?.map(({ message }) => message.split("\n", 1)[0]) ?? [];
        unsteady.push(`${test.module.relativeModuleId} > ${test.fullName}: ${failures.join("; ")}`);
      }
    },
    onTestRunEnd(): void {
      if (process.env.TEST_TALLY !== undefined) {
        appendFileSync(process.env.TEST_TALLY, `${count.passed} ${count.failed}\n`);
      }
      if (unsteady.length > 0) {
        console.log(`\n Passed only when run again, to be mended:\n   ${unsteady.join("\n   ")}\n`);
      }
    },
  };
}
