import { defineConfig } from "vitest/config";
import { lane, otherLanes } from "./test/support/lane.ts";

/** Several nodes with one Redis, behind a balancer: `npm run test:cluster`. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/cluster/**/*.test.ts"],
    exclude: otherLanes,
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
    // Each file starts many processes.
    fileParallelism: false,
    expect: { poll: { timeout: 20_000 } },
  },
});
