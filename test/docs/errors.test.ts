import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorsPage } from "../../tools/errors-page.ts";

test("docs/errors.md is up to date with `npm run generate`", () => {
  expect(readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")).toBe(errorsPage());
});
