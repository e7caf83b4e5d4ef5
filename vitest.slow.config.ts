import { defineConfig } from "vitest/config";
import type { Need } from "./test/support/components.ts";
import { lane, otherLanes } from "./test/support/lane.ts";
import { serviceNeeds } from "./vitest.config.ts";

/** Tests of the service that take long by their nature: `npm run test:slow`, which `npm run check` calls. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/slow/**/*.test.ts"],
    exclude: otherLanes,
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: [...serviceNeeds, "systemd", "root", "mounts"] satisfies Need[] },
    maxWorkers: 3,
  },
});
