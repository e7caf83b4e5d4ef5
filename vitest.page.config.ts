import { defineConfig } from "vitest/config";
import { lane, otherLanes } from "./test/support/lane.ts";

/** The page in a real browser, against a real service: `npm run test:page`. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/page/**/*.test.ts"],
    exclude: otherLanes,
    globalSetup: ["test/support/require-components.ts", "test/page/shared-page.ts"],
    provide: { needs: ["chromium"] },
    fileParallelism: false,
    // One process reads what all files import.
    isolate: false,
    expect: { poll: { timeout: 20_000 } },
  },
});
