import { defineConfig } from "vitest/config";
import { triedAgainInCi } from "./test/support/tried-again.ts";

/** A started service under every abuse that is known: `npm run test:abuse`. */
export default defineConfig({
  test: {
    ...triedAgainInCi(),
    include: ["test/abuse/**/*.test.ts"],
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: ["native"] },
    // They measure how quickly a service answers: two at a time would measure each other.
    fileParallelism: false,
    // For the slowest machine: nothing waits for it to pass.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
