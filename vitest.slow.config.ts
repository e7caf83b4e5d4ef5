import { defineConfig } from "vitest/config";
import type { Need } from "./test/support/components.ts";
import { triedAgainInCi } from "./test/support/tried-again.ts";
import { serviceNeeds } from "./vitest.config.ts";

/** Tests of the service that take long by their nature: `npm run test:slow`, which `npm run check` calls. */
export default defineConfig({
  test: {
    ...triedAgainInCi(),
    include: ["test/slow/**/*.test.ts"],
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: [...serviceNeeds, "systemd"] satisfies Need[] },
    maxWorkers: 3,
    // For the slowest machine: nothing waits for it to pass.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
