import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pageWith } from "../../bench/measured.ts";
import { steps } from "../../tools/nightly-steps.ts";

const page = readFileSync(new URL("../../docs/measured.md", import.meta.url), "utf8");

const blocks = ["bench", "engines", ...Object.keys(steps).map((step) => `nightly ${step}`)];

test.each(blocks)("replacing the block %s of docs/measured.md changes nothing else", (name) => {
  const first = pageWith(page, name, "new figures");
  expect(first).toContain(`<!-- begin ${name} -->\n\nnew figures\n\n<!-- end ${name} -->`);
  const [before, after] = [page.split(`<!-- begin ${name} -->`)[0], page.split(`<!-- end ${name} -->`)[1]];
  expect(first.startsWith(`${before}`)).toBe(true);
  expect(first.endsWith(`${after}`)).toBe(true);
  expect(pageWith(first, name, "new figures")).toBe(first);
});

test("an error is thrown if the block to replace is not in docs/measured.md", () => {
  expect(() => pageWith(page, "capacity", "figures")).toThrow("docs/measured.md has no block capacity");
});
