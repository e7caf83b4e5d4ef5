import { defineConfig } from "vitest/config";
import type { Need } from "./test/support/components.ts";
import { lane, otherLanes } from "./test/support/lane.ts";
import { patienceMs } from "./test/support/patience.ts";
import { allTests, unitTests } from "./test/support/unit-tests.ts";

// These install something first or take minutes, each by a command of its own: `npm run test:<folder>`.
const apart = [
  ...["older", "clients", "tools", "fuzz", "abuse", "slow", "page", "cluster"].map(
    (folder) => `test/${folder}/**`,
  ),
  ...otherLanes,
];

const units = [...unitTests(allTests())];

/** What a machine may lack for them, or for `npm run test:slow`. Nothing here needs root: a newcomer is an ordinary user. */
export const serviceNeeds: Need[] = [
  "native",
  "chromium",
  "util-linux",
  "namespaces",
  "node 25",
  "redis",
  "prometheus",
];

const globalSetup = ["test/support/require-components.ts"];

/** `npm test` runs both projects, `npm run test:unit` the first. In which a test is follows from what it imports. */
export default defineConfig({
  test: {
    ...lane(),
    // Files share the modules that one worker has read: reading them anew takes longer than most of the tests.
    isolate: false,
    setupFiles: ["test/support/real-clock.ts", "test/support/fixed-seed.ts"],
    env: { FUZZ_SEED: process.env.FUZZ_SEED ?? "1" },
    // Most of them wait for engines and timers, so there can be more than cores; vitest's own choice is one less.
    maxWorkers: 4,
    expect: { poll: { timeout: patienceMs } },
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
          // for the calls through every protocol. Not of the processes that tests start.
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
