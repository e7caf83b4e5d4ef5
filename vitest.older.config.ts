import { defineConfig } from "vitest/config";
import { triedAgainInCi } from "./test/support/tried-again.ts";

/** Tests of an older engine version beside the newest: `npm run test:older` installs it first. */
export default defineConfig({
  test: {
    ...triedAgainInCi(),
    include: ["test/older/**/*.test.ts"],
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: [] },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
