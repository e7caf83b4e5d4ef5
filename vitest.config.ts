import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // The ones install another engine version first, the others take minutes: `npm run test:older`, `test:abuse`.
    exclude: ["test/older/**", "test/abuse/**"],
    globalSetup: ["test/support/require-native.ts"],
    // A real engine on a busy machine takes seconds to start; nothing here waits for a time-out to pass.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
