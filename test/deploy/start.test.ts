import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const { scripts } = JSON.parse(textOf("package.json"));

test("`npm run dev` starts Node with the flags of `npm start`", () => {
  expect(scripts.dev).toBe(scripts.start.replace("node ", "node --watch "));
});

test.each([
  "deploy/Dockerfile",
  "deploy/systemd/kibitz.service",
  "docs/running.md",
  "test/cluster/deploy-files.nightly.test.ts",
])("%s has the same memory limits as `npm start`", (path) => {
  const flags: readonly string[] = scripts.start.match(/--\S+/g);
  expect(textOf(path).match(/--max-(old|semi)-space-size=\d+/g)).toEqual(flags);
});

test("the image serves metrics on all network interfaces, and declares the port", () => {
  const dockerfile = textOf("deploy/Dockerfile");
  expect(dockerfile).toMatch(/^ENV .*\bKIBITZ_HOST=0\.0\.0\.0 KIBITZ_METRICS_HOST=0\.0\.0\.0\b/m);
  expect(dockerfile).toMatch(/^EXPOSE 8080 9464$/m);
});
