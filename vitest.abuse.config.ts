import { defineConfig } from "vitest/config";
import { lane, otherLanes } from "./test/support/lane.ts";

/** A started service under every abuse that is known: `npm run test:abuse`. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/abuse/**/*.test.ts"],
    exclude: otherLanes,
    globalSetup: ["test/support/require-components.ts", "test/abuse/shared-service.ts"],
    provide: { needs: ["native"] },
    // They share one service, and count what an attack takes of it.
    fileParallelism: false,
    // Tests that are marked as concurrent only wait until the service closes their connection.
    maxConcurrency: 32,
  },
});
