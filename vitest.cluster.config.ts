import { defineConfig } from "vitest/config";
import { triedAgainInCi } from "./test/support/tried-again.ts";

/** Several nodes with one Redis, behind a balancer: `npm run test:cluster`. */
export default defineConfig({
  test: {
    ...triedAgainInCi(),
    include: ["test/cluster/**/*.test.ts"],
    globalSetup: [
      "test/tools/go-tools.ts",
      "test/cluster/deploy-tools.ts",
      "test/support/require-components.ts",
    ],
    provide: {
      needs: [
        "redis",
        "haproxy",
        "nginx",
        "prometheus",
        "envoy",
        "helm",
        "go",
        "python",
        "chromium",
        "namespaces",
        "root",
      ],
    },
    // Each starts many processes, and promises about time are among what they prove.
    fileParallelism: false,
    // What hangs fails; what waits for a busy machine does not.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
