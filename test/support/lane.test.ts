import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ViteUserConfig } from "vitest/config";

const root = new URL("../..", import.meta.url);

const lanes = await Promise.all(
  globSync("vitest*.config.ts", { cwd: fileURLToPath(root) }).map(async (file) => {
    const module = await import(/* @vite-ignore */ new URL(file, root).href);
    const { test: options }: ViteUserConfig = module.default;
    return { file, options, runs: (options?.projects as ViteUserConfig[] | undefined) ?? [module.default] };
  }),
);

test.each(lanes)(
  "$file retries failed tests only if all its tests measure time",
  ({ file, options, runs }) => {
    const retries = [options?.retry, ...runs.map((run) => run.test?.retry ?? 0)].map(Number);
    expect(Math.max(...retries)).toBe(file === "vitest.timed.config.ts" ? 1 : 0);
  },
);

test.each(lanes)("$file fails in CI if a component is missing or a test is skipped", ({ runs }) => {
  for (const run of runs) {
    expect(run.test?.globalSetup).toContain("test/support/require-components.ts");
  }
});
