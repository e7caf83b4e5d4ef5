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
    // Promises about time are among them, so nothing else may take the machine's.
    fileParallelism: false,
    expect: { poll: { timeout: 20_000 } },
  },
});
