import { defineConfig } from "vitest/config";
import { lane, otherLanes } from "./test/support/lane.ts";

/** Clients in other languages against the real service: `npm run test:clients`. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/clients/**/*.test.ts"],
    exclude: otherLanes,
    globalSetup: ["test/support/require-components.ts", "test/clients/toolchains.ts"],
    provide: { needs: ["go", "jdk", "maven", "python", "chromium"] },
    // The files share two cores with what they start; within a file, programs that only wait run beside each other.
    fileParallelism: false,
    maxConcurrency: 6,
    expect: { poll: { timeout: 20_000 } },
  },
});
