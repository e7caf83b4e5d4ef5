import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { brokenPromises } from "../../tools/check-promises.ts";
import type { TestResult } from "../support/test-result.ts";

const page = readFileSync(new URL("../../docs/promises.md", import.meta.url), "utf8");

test("docs/promises.md names an existing test for each promise", () => {
  expect(page.match(/^\| /gm)?.length).toBeGreaterThan(80);
  expect(brokenPromises(page)).toEqual([]);
});

test("a promise is broken if its test is missing, did not run, or failed", () => {
  const file = "test/docs/promises.test.ts";
  const name = "a promise is broken if its test is missing, did not run, or failed";
  const row = (text: string) => `| it holds | ${text} |`;
  const result = (state: TestResult["state"]): TestResult => ({
    file,
    name: `group > ${name}`,
    state,
    ms: 1,
  });
  expect(brokenPromises(row(`\`${file}\`: ${name}`), [result("passed")])).toEqual([]);
  expect(brokenPromises(row(`\`${file}\`: ${name}`), [result("skipped")])).toHaveLength(1);
  expect(brokenPromises(row(`\`${file}\`: ${name}`), [result("passed"), result("failed")])).toHaveLength(1);
  expect(brokenPromises(row(`\`${file}\`: ${name}`), [])).toHaveLength(1);
  expect(brokenPromises(row("`test/docs/gone.test.ts`: a test"))).toHaveLength(1);
  expect(brokenPromises(row(`\`${file}\`: ${["a name", "without test"].join(" ")}`))).toHaveLength(1);
  // The beginning of a name, and a file whose tests run only in the files that import it.
  expect(brokenPromises(row("`test/http/stalled-answers.test.ts`: an answer over %s"))).toHaveLength(1);
  const imported = "a client without a key gets 3,600 s of engine time in a day in $" + "{name}";
  expect(brokenPromises(row(`\`test/contract/limits.ts\`: ${imported}`))).toHaveLength(1);
  expect(brokenPromises(row(`\`test/access/limits.test.ts\`: ${imported}`))).toEqual([]);
  expect(brokenPromises(row("nothing"))).toHaveLength(1);
});

test("a promise of a nightly test is broken if the test did not run at night", () => {
  const file = "test/abuse/soak.nightly.test.ts";
  const row = `| it holds | \`${file}\` (nightly): the memory and the number of descriptors do not grow during a minute of mixed load |`;
  expect(brokenPromises(row, [])).toEqual([]);
  expect(brokenPromises(row, [], true)).toHaveLength(1);
});
