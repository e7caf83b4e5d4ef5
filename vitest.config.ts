import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // These install something first or take minutes, each by a command of its own: `npm run test:<folder>`.
    exclude: ["test/older/**", "test/clients/**", "test/tools/**", "test/fuzz/**", "test/abuse/**"],
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: ["native", "chromium", "util-linux", "root", "namespaces", "mounts", "node 25"] },
    // A real engine on a busy machine takes seconds to start; nothing here waits for a time-out to pass.
    // Most of them wait for engines and timers, so there can be more than cores; vitest's own choice is one less.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
