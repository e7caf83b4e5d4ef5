import { defineConfig } from "vitest/config";

/** Tests of an older engine version beside the newest: `npm run test:older` installs it first. */
export default defineConfig({
  test: {
    include: ["test/older/**/*.test.ts"],
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: [] },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
