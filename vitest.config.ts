import { defineConfig } from "vitest/config";
import type { Need } from "./test/support/components.ts";
import { patienceMs } from "./test/support/patience.ts";
import { triedAgainInCi } from "./test/support/tried-again.ts";
import { allTests, unitTests } from "./test/support/unit-tests.ts";

// These install something first or take minutes, each by a command of its own: `npm run test:<folder>`.
const apart = ["older", "clients", "tools", "fuzz", "abuse", "slow", "page", "cluster"].map(
  (folder) => `test/${folder}/**`,
);

const units = [...unitTests(allTests())];

/** What a machine may lack for them; the same as `vitest.slow.config.ts`. */
export const serviceNeeds: Need[] = [
  "native",
  "chromium",
  "util-linux",
  "root",
  "namespaces",
  "mounts",
  "node 25",
  "redis",
  "prometheus",
];

const globalSetup = ["test/support/require-components.ts"];

/** `npm test` runs both projects, `npm run test:unit` the first. In which a test is follows from what it imports. */
export default defineConfig({
  test: {
    // Files share the modules that one worker has read: reading them anew takes longer than most of the tests.
    isolate: false,
    setupFiles: ["test/support/real-clock.ts"],
    // Most of them wait for engines and timers, so there can be more than cores; vitest's own choice is one less.
    maxWorkers: 4,
    // A busy machine takes ten times as long for what works engines and processes; nothing here waits for a time-out to pass.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: patienceMs } },
    ...triedAgainInCi(),
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: units,
          exclude: apart,
          globalSetup,
          provide: { needs: [] },
          pool: "threads",
        },
      },
      {
        extends: true,
        test: {
          name: "service",
          // Nearly all of it runs a few times only: what TurboFan makes of it costs more than it saves, 46 s of CPU instead of 43
          // for the calls through every door. Not of the processes that tests start.
          execArgv: ["--no-opt"],
          include: ["test/**/*.test.ts"],
          exclude: [...apart, ...units],
          globalSetup,
          provide: { needs: serviceNeeds },
        },
      },
    ],
  },
});
