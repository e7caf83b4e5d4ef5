import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** What Node is told behind its name, up to what it runs. */
function flagsIn(text: string): readonly string[] {
  const words = text.slice(text.indexOf("--min-semi-space-size")).split(/[\s"',`]+/);
  const end = words.findIndex((word) => !word.startsWith("--"));
  return words.slice(0, end);
}

const flags = flagsIn(textOf("package.json"));

test("`npm start` tells Node something", () => {
  expect(flags).toHaveLength(2);
});

// Memory and the tail of latencies are measured with these.
test.each([
  "deploy/Dockerfile",
  "deploy/systemd/kibitz.service",
  "docs/running.md",
  "test/cluster/deploy-files.test.ts",
  "tools/measure-package.ts",
])("%s tells it the same", (path) => {
  expect(flagsIn(textOf(path))).toEqual(flags);
});

test("so does `npm run dev`", () => {
  const { scripts } = JSON.parse(textOf("package.json"));
  expect(scripts.dev).toBe(scripts.start.replace("node ", "node --watch "));
});

test("the image serves metrics to whoever reaches the container, and names the port", () => {
  const dockerfile = textOf("deploy/Dockerfile");
  expect(dockerfile).toMatch(/^ENV .*\bKIBITZ_HOST=0\.0\.0\.0 KIBITZ_METRICS_HOST=0\.0\.0\.0\b/m);
  expect(dockerfile).toMatch(/^EXPOSE 8080 9464$/m);
});
