import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // These install another engine version first: `npm run test:older`.
    exclude: ["test/older/**"],
    globalSetup: ["test/support/require-native.ts", "test/support/require-chromium.ts"],
    // A real engine on a busy machine takes seconds to start; nothing here waits for a time-out to pass.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
