import { defineConfig } from "vitest/config";
import { triedAgainInCi } from "./test/support/tried-again.ts";

/** Clients in other languages against the real service: `npm run test:clients`. */
export default defineConfig({
  test: {
    ...triedAgainInCi(),
    include: ["test/clients/**/*.test.ts"],
    globalSetup: ["test/support/require-components.ts", "test/clients/toolchains.ts"],
    provide: { needs: ["go", "jdk", "maven", "python", "chromium"] },
    // Promises about time are among them, so nothing else may take the machine's.
    fileParallelism: false,
    // What hangs fails; what waits for a busy machine does not.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
