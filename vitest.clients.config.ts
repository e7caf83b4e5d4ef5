import { defineConfig } from "vitest/config";

/** Clients in other languages against the real service: `npm run test:clients`. */
export default defineConfig({
  test: {
    include: ["test/clients/**/*.test.ts"],
    globalSetup: ["test/clients/toolchains.ts"],
    // Promises about time are among them, so nothing else may take the machine's.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
