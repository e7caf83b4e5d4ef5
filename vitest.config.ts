import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // These install something first: `npm run test:older` another engine version, `npm run test:tools` Go tools.
    exclude: ["test/older/**", "test/tools/**"],
    globalSetup: ["test/support/require-native.ts"],
    // A real engine on a busy machine takes seconds to start; nothing here waits for a time-out to pass.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
