import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pagePolicy } from "../../src/http/pages/web-files.ts";

const root = new URL("../../", import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), "utf8");

test("the README shows the picture that `npm run screenshots` takes, which is small enough to be kept", () => {
  const [, picture = ""] = /!\[[^\]]{20,}\]\((.+?)\)/.exec(textOf("README.md")) ?? [];
  expect(textOf("tools/screenshots.ts")).toContain(`"${picture}"`);
  const bytes = readFileSync(new URL(picture, root));
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  expect(bytes.length).toBeLessThan(150_000);
});

test("docs/running.md says what the page's policy is", () => {
  const [, shown = ""] = /```text\nContent-Security-Policy: (.+)\n```/.exec(textOf("docs/running.md")) ?? [];
  expect(shown).toBe(pagePolicy);
});
