import { defineConfig } from "vitest/config";
import { lane, otherLanes } from "./test/support/lane.ts";

/** Tests of an older engine version beside the newest: `npm run test:older` installs it first. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/older/**/*.test.ts"],
    exclude: otherLanes,
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: [] },
  },
});
