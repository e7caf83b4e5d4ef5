import { defineConfig } from "vitest/config";
import { triedAgainInCi } from "./test/support/tried-again.ts";

/** The page in a real browser, against a real service: `npm run test:page`. */
export default defineConfig({
  test: {
    ...triedAgainInCi(),
    include: ["test/page/**/*.test.ts"],
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: ["chromium"] },
    // How quickly something is seen is among what they promise, so nothing else may take the machine's time.
    fileParallelism: false,
    // What hangs fails; what waits for a busy machine does not.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
