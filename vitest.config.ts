import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // The first install another engine version (`npm run test:older`), the others build clients (`npm run test:clients`).
    exclude: ["test/older/**", "test/clients/**"],
    globalSetup: ["test/support/require-native.ts"],
    // A real engine on a busy machine takes seconds to start; nothing here waits for a time-out to pass.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
