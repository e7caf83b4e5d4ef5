import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { metricsPage } from "../../tools/metrics-page.ts";

test("docs/metrics.md is up to date with `npm run generate`", () => {
  expect(readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8")).toBe(metricsPage());
});
