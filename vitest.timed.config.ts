import { defineConfig } from "vitest/config";
import { components, type Need } from "./test/support/components.ts";
import { lane } from "./test/support/lane.ts";

/**
 * Promises about time: `npm run test:timed`. One test runs after another, because two at a time would measure each other. A test
 * that fails may run a second time; `.ci/run` lists each that did, and more than two of them fail the run.
 */
export default defineConfig({
  test: {
    ...lane(),
    retry: 1,
    include: ["test/**/*.timed.test.ts"],
    globalSetup: [
      "test/tools/go-tools.ts",
      "test/support/require-components.ts",
      "test/clients/toolchains.ts",
      "test/abuse/shared-service.ts",
    ],
    provide: {
      needs: (Object.keys(components) as Need[]).filter(
        (need) => need !== "actionlint" && need !== "envoy" && need !== "otelcol" && need !== "helm",
      ),
    },
    fileParallelism: false,
    expect: { poll: { timeout: 20_000 } },
  },
});
