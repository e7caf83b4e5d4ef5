import { defineConfig } from "vitest/config";
import { components, type Need } from "./test/support/components.ts";
import { lane } from "./test/support/lane.ts";

/** Tests that take long and guard what changes rarely: a part of `npm run test:nightly`. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/**/*.nightly.test.ts"],
    globalSetup: [
      "test/tools/go-tools.ts",
      "test/cluster/deploy-tools.ts",
      "test/support/require-components.ts",
      "test/clients/toolchains.ts",
    ],
    provide: { needs: Object.keys(components) as Need[] },
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
